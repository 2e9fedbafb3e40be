"""The entries of a report: one a loop of the user's, and each kernel's grid."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.report.model import Report
from warpsmith.report.port.build import kernel_entries, loop_entries
from warpsmith.report.port.json import report_json, schema
from warpsmith.report.port.text import port_text

TEXT = """void f(int n, int m, double a[restrict n][m], double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] = 1;
    for (int k = 1; k < n; k++)
        x[k] = x[k - 1] * x[k - 1];
    for (int l = 0; l < 300; l++)
        y[l] = 2;
    while (n > 3)
        n /= 2;
}
"""


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> PortResult:
    path = tmp_path_factory.mktemp("build") / "a.c"
    path.write_text(TEXT)
    return port([str(path)], PortOptions(verify=False))


def test_every_loop_has_an_entry_in_the_order_of_the_text(result: PortResult) -> None:
    entries = loop_entries(result.prepared, result.plan)
    assert [(e.variable, e.depth, e.category, e.ported) for e in entries] == [
        ("i", 1, "parallel", True),
        ("j", 2, "parallel", True),
        ("k", 1, "sequential", False),
        ("l", 1, "parallel", True),
        ("", 1, "unanalyzable", False),
    ]
    assert [e.label for e in entries] == ["for i", "for j", "for k", "for l", "while"]
    assert entries[0].kernel == entries[1].kernel != entries[3].kernel and entries[2].kernel is None
    assert entries[2].reasons and all(reason.legal_if == () for e in entries for reason in e.reasons)


def test_without_a_plan_nothing_is_ported(result: PortResult) -> None:
    entries = loop_entries(result.prepared, None)
    assert len(entries) == 5 and not any(e.ported or e.kernel for e in entries)
    assert kernel_entries(None) == ()


def test_a_grid_covers_the_iterations(result: PortResult) -> None:
    both, single = kernel_entries(result.plan)
    assert len(both.loops) == 2 and both.mapping and both.grid[2] == "1"
    for blocks, size, count in ((both.grid[0], both.block[0], "m"), (both.grid[1], both.block[1], "n")):
        assert count in blocks and (size == 1 or f"+ {size - 1}) / {size}" in blocks)
    assert single.grid[1:] == ("1", "1") and f"/ {single.block[0]}" in single.grid[0]


def test_a_function_of_a_header_is_listed_once(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("static void z(int n, int *a) { for (int i = 0; i < n; i++) a[i] = 0; }\n")
    for name in ("a", "b"):
        (tmp_path / f"{name}.c").write_text(f'#include "a.h"\nvoid {name}(int n, int *x) {{ z(n, x); }}\n')
    made = port([str(tmp_path / "a.c"), str(tmp_path / "b.c")], PortOptions(survey=True, verify=False))
    assert [entry.function for entry in loop_entries(made.prepared, made.plan)] == ["z"]


def test_several_iterations_a_thread_are_told(tmp_path: Path) -> None:
    path = tmp_path / "product.c"
    path.write_text(
        "void f(int n, double C[restrict n][n], double A[restrict n][n], double B[restrict n][n]) {\n"
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
        " for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j]; }\n"
    )
    (kernel,) = kernel_entries(port([str(path)], PortOptions(verify=False)).plan)
    assert kernel.block == (16, 8, 1) and kernel.elements == (4, 8, 1)
    assert kernel.grid[:2] == ("(n + 63) / 64", "(n + 63) / 64")
    report = Report("port", ("product.c",), "ok", kernels=(kernel,))
    document = json.loads(report_json(report))
    jsonschema.validate(document, schema())
    assert document["kernels"][0]["elements"] == [4, 8, 1]
    assert "8 x 4 iterations a thread" in " ".join(port_text(report, "").split())
