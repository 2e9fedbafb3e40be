"""Values in memory that a nest could keep in variables, recognized from its text: pointers, bounds and rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.poly.programs import load
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.search.localizable import (
    is_run_by_threads,
    may_be_localized,
    mixes_rows,
    moves_through_vectors,
    starts_threads,
)
from warpsmith.loops.search.nests import outermost
from warpsmith.tree.walk import loops

HEAD = """
struct box { double *values; int count; };
union word { int i; float f; };
void g(struct box *b);
void h(double *x);
"""


@pytest.mark.parametrize(
    ("parameters", "loop", "found"),
    [
        ("int n, double *a", "for (int i = 0; i < n; i++) a[i] = 0;", False),
        ("int n, double a[9][9]", "for (int i = 0; i < n; i++) a[i][i] = 0;", False),
        ("int n, struct box *b", "for (int i = 0; i < n; i++) b->values[i] = 0;", True),
        ("int n, struct box b", "for (int i = 0; i < n; i++) b.values[i] = 0;", True),
        ("struct box *b, double *a", "for (int i = 0; i < b->count; i++) a[i] = 0;", True),
        ("int n, double **a", "for (int i = 0; i < n; i++) a[i][0] = 0;", True),
        ("int *n, double *a", "for (int i = 0; i < *n; i++) a[i] = 0;", True),
        ("int *n, double *a", "for (int i = 0; i < n[0]; i += a[i] > 0) a[i] = 0;", True),
        ("int *n, double *a", "for (int i = 0; i < n[0]; i++) a[i] = 0;", True),
        ("int *n, int k, double *a", "for (int i = 0; i < 9; i++) for (int j = 0; j < n[k] - 1; j++) a[j] = i;", True),
        ("int *n, double *a", "for (int i = 0; i < 9; i++) for (int j = n[i]; j < n[i + 1]; j++) a[j] = i;", False),
        ("int n, struct box *b", "for (int i = 0; i < n; i++) g(b);", True),
        ("int n, double *a", "for (int i = 0; i < n; i++) h(a);", False),
        ("int n, double *a, union word u", "for (int i = 0; i < n; i++) a[i] = u.f;", True),
    ],
)
def test_a_nest_with_something_in_memory_is_told(parameters: str, loop: str, found: bool, tmp_path: Path) -> None:
    program = load(f"{HEAD}void f({parameters}) {{ {loop} }}", tmp_path)
    function = next(f for _, f in program.functions() if f.symbol.name == "f")
    (nest,) = outermost(function.body)
    assert may_be_localized(nest) == found


@pytest.mark.parametrize(
    ("body", "mixed"),
    [
        ("a[i][k] -= a[k][k];", True),
        ("a[i][k] -= b[k][k];", False),
        ("a[k][i] -= a[n][k];", False),
        ("for (int j = 0; j < n; j++) a[j][k] += a[i][j];", False),
        ("int r = i + k; x[i] = a[r][0] + a[0][r];", True),
    ],
)
def test_a_row_of_all_iterations_beside_others_of_the_same_array(body: str, mixed: bool, tmp_path: Path) -> None:
    program = load(
        f"void f(int n, int k, double **a, double **b, double *x) {{ for (int i = 0; i < n; i++) {{ {body} }} }}",
        tmp_path,
    )
    function = next(f for _, f in program.functions() if f.symbol.name == "f")
    (nest,) = outermost(function.body)
    assert mixes_rows(nest) == mixed


def test_loops_that_threads_of_the_host_run_as_they_are(tmp_path: Path) -> None:
    text = """
    void f(int n, double **a, double *s)
    {
        for (int t = 0; t < n; t++) {
            #pragma omp parallel
            {
                #pragma omp for
                for (int i = 0; i < n; i++)
                    a[i][t] = 0;
            }
            #pragma omp parallel for
            for (int j = 0; j < n; j++)
                a[t][j] = 0;
        }
    }
    """
    (function,) = load(text, tmp_path).units[0].functions
    nest, threads, parallel = (loop for loop, _ in loops(function.body))
    assert [starts_threads(loop) for loop in (nest, threads, parallel)] == [True, False, False]
    assert [is_run_by_threads(loop, nest) for loop in (nest, threads, parallel)] == [False, True, False]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("a[i][k] = 1;", True),
        ("k += a[i].size();", True),
        ("for (double x : a[i]) k += x;", True),
        ("y[i] = 1;", False),
        ("k += a.size();", False),
    ],
)
def test_a_loop_that_subscripts_containers(body: str, found: bool, tmp_path: Path) -> None:
    arguments = "int n, int k, std::vector<std::vector<double>> &a, std::vector<double> &y"
    (tmp_path / "a.cpp").write_text(
        f"#include <vector>\nvoid f({arguments}) {{ for (int i = 0; i < n; i++) {{ {body} }} }}"
    )
    program = load_program([str(tmp_path / "a.cpp")], FrontOptions()).program
    function = next(f for _, f in program.functions() if f.symbol.name == "f")
    (nest,) = outermost(function.body)
    assert moves_through_vectors(nest) == found
