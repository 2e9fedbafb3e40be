"""Whether a program gives each row a block of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.hand import load
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.analysis.row_allocations import exchanges_rows, has_separate_rows
from warpsmith.loops.steps.data.vector_rows import VectorRows
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.tree.types import DOUBLE, FLOAT, INT, Pointer, Scalar

HEAD = "#include <stdlib.h>\nstatic double *line(int m) { return malloc(m * sizeof(double)); }\n"


@pytest.mark.parametrize(
    ("body", "separate"),
    [
        ("for (int i = 0; i < n; i++) a[i] = malloc(m * sizeof *a[i]);", True),
        ("for (int i = 0; i < n; i++) a[i] = (double *)calloc(m, 8);", True),
        ("for (int i = 0; i < n; i++) *(a + i) = line(m);", True),
        ("for (int i = 0; i < n; i++) a[i] = m ? malloc(8 * m) : 0;", True),
        ("a[0] = malloc(n * m * sizeof **a); for (int i = 1; i < n; i++) a[i] = a[0] + i * m;", False),
        ("double *p = 0; for (int i = 0; i < n; i++) p = malloc(m); a[0] = p;", False),
        ("for (int i = 0; i < n; i++) k[i] = malloc(m);", False),
    ],
)
def test_a_block_that_is_stored_again_and_again(body: str, separate: bool, tmp_path: Path) -> None:
    program = load(f"{HEAD}void f(int n, int m, double **a, int **k) {{ {body} }}", tmp_path)
    summaries = Summaries.of(program)
    assert has_separate_rows(summaries, Pointer(DOUBLE)) == separate
    # qualifiers make no other row
    assert has_separate_rows(summaries, Pointer(Scalar("double", 64, "float", const=True))) == separate
    assert has_separate_rows(summaries, Pointer(INT)) == ("k[i]" in body)


@pytest.mark.parametrize(
    ("body", "exchanged"),
    [
        ("double *t = a[0]; a[0] = a[n]; a[n] = t;", True),
        ("*a = a[m];", True),
        ("a[0] = malloc(n); for (int i = 1; i < n; i++) a[i] = a[0] + i * m;", False),
        ("double *t = a[n]; t[0] = a[0][1];", False),
        ("k[0] = k[1];", False),
    ],
)
def test_rows_that_change_their_places(body: str, exchanged: bool, tmp_path: Path) -> None:
    program = load(f"{HEAD}void f(int n, int m, double **a, int **k) {{ {body} }}", tmp_path)
    assert exchanges_rows(Summaries.of(program), Pointer(DOUBLE)) == exchanged


@pytest.mark.parametrize(
    ("body", "separate"),
    [
        ("for (int i = 0; i < n; i++) a[i] = v[i].data();", True),
        ("for (int i = 0; i < n; i++) a[i] = &v[i][0];", True),
        ("for (int i = 0; i < n; i++) a[i] = &v[i][1];", False),
        ("for (int i = 0; i < n; i++) a[i] = &w[i];", False),
        ("for (int i = 0; i < n; i++) a[i] = w.data() + i * n;", False),
        ("for (int i = 0; i < n; i++) a[i] = w.data();", False),
        ("a[0] = v[0].data();", False),
    ],
)
def test_rows_of_containers_in_an_array(body: str, separate: bool, tmp_path: Path) -> None:
    path = tmp_path / "rows.cpp"
    arguments = "int n, double **a, std::vector<std::vector<double>> &v, std::vector<double> &w"
    path.write_text(f"#include <vector>\nvoid f({arguments}) {{ {body} }}")
    loaded = load_program([str(path)], FrontOptions())
    assert not loaded.findings, loaded.findings
    assert has_separate_rows(Summaries.of(loaded.program), Pointer(DOUBLE)) == separate


@pytest.mark.parametrize(("row", "separate"), [(DOUBLE, True), (FLOAT, False)])
def test_rows_that_a_step_gathered(row: Scalar, separate: bool, tmp_path: Path) -> None:
    path = tmp_path / "rows.cpp"
    function = "void f(int n, std::vector<std::vector<double>> &a) { for (int i = 0; i < n; i++) a[i][0] = 1; }"
    path.write_text(f"#include <vector>\n{function}")
    program = load_program([str(path)], FrontOptions()).program
    assert not has_separate_rows(Summaries.of(program), Pointer(row))
    assert has_separate_rows(Summaries.of(VectorRows("f/i").apply(program)), Pointer(row)) == separate
