"""Memory of the host's for arrays that only kernels use is not asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emit.host.outline.programs import body_of, port_text, texts
from warpsmith.emit.host.outline.private import drop_private_arrays
from warpsmith.emit.host.outline.runs import Runs
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import Function
from warpsmith.tree.printing.printer import nothing, print_top

_EXPANDED = """
#include <stdlib.h>
void f(int n, int m, double a[n][m], double c[m][m], double sum[m])
{
    for (int r = 0; r < n; r++) {
        for (int p = 0; p < m; p++) {
            sum[p] = 0;
            for (int s = 0; s < m; s++)
                sum[p] += a[r][s] * c[s][p];
        }
        for (int p = 0; p < m; p++)
            a[r][p] = sum[p];
    }
}
"""


@pytest.mark.slow
def test_what_a_step_expands_has_no_memory_on_the_host(tmp_path: Path) -> None:
    result = port_text(_EXPANDED, tmp_path, verify=True)
    assert result.verification is not None and result.verification.status == "pass", result.findings
    files = texts(result)
    assert "sum_all_gpu" in files["one_kernels.cu"]
    assert "malloc" not in files["one.c"] and "free" not in files["one.c"]
    assert "malloc" not in body_of(files["one_kernels.cu"], "ws_f_1")


def _function(body: str, tmp_path: Path) -> Function:
    path = tmp_path / "f.c"
    path.write_text(
        "#include <stdlib.h>\nvoid take(double *);\n"
        f"void f(int n)\n{{\n    double *x = malloc(n * sizeof(double));\n{body}\n}}\n"
    )
    program = load_program([str(path)], FrontOptions()).program
    return next(f for _, f in program.functions() if f.symbol.name == "f")


_KEPT = {
    "used": "take(x); free(x);",
    "not freed": "if (!x) abort();",
    "freed twice": "if (!x) abort(); free(x); free(x);",
    "written": "if (!x) abort(); x[0] = 1; free(x);",
    "tested for something else": "if (x) abort(); free(x);",
    "what is done about it is the user's": "if (!x) return; free(x);",
    "freed below": "if (!x) abort(); if (n) free(x);",
}


@pytest.mark.parametrize("name", _KEPT)
def test_memory_that_something_else_uses_stays(name: str, tmp_path: Path) -> None:
    function = _function(_KEPT[name], tmp_path)
    assert drop_private_arrays(function, lambda stmt: True) is function or print_top(
        drop_private_arrays(function, lambda stmt: True), nothing
    ) == print_top(function, nothing)


def test_a_size_that_is_out_of_reach_still_ends_the_program(tmp_path: Path) -> None:
    function = _function("if (!x || (double)n * n > 1e15) abort(); free(x);", tmp_path)
    text = print_top(drop_private_arrays(function, lambda stmt: True), nothing)
    assert "malloc" not in text and "free" not in text and "if ((double)n * n > 1e+15)" in text.replace("1e15", "1e+15")
    # the user's own memory is his business
    kept = drop_private_arrays(function, Runs.of(function).is_own)
    assert print_top(kept, nothing) == print_top(function, nothing)


def test_a_test_alone_is_dropped(tmp_path: Path) -> None:
    function = _function("if (!x) abort(); free(x);", tmp_path)
    assert not drop_private_arrays(function, lambda stmt: True).body.statements


def test_programs_without_such_arrays_stay(tmp_path: Path) -> None:
    files = texts(port_text("void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = i; }\n", tmp_path))
    assert "malloc" not in files["one.c"]
