"""Which kernel serves a loop of the user's, when steps came in between."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.flows.port import PortOptions, port
from warpsmith.poly.facts import LoopFacts
from warpsmith.report.port.served import Served

HEAD = "#include <stdlib.h>\nvoid f(int n, double *restrict x, double *restrict y, double a[restrict n][n])\n{\n"


def served(body: str, folder: Path, *, plan: bool = True) -> tuple[Served, dict[str, LoopFacts]]:
    path = folder / "a.c"
    path.write_text(f"{HEAD}{body}\n}}\n")
    made = port([str(path)], PortOptions(verify=False))
    assert made.plan is not None
    known = {f.id: f for function in made.facts.functions for f in function.loops}
    return Served.of(made.prepared, made.plan if plan else None), known


CASES = [
    ("for (int i = 0; i < n; i++) x[i] = 1;", {"f/i": (True, True)}),
    ("for (int i = 1; i < n; i++) x[i] = x[i - 1] * x[i - 1];", {"f/i": (False, False)}),
    # the host loop around a kernel is not served by it
    ("for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) a[i][j] = a[i - 1][j / 2] * y[j];",
     {"f/i": (False, False), "f/i/j": (True, True)}),
    ("double t[2]; for (int i = 0; i < n; i++) { t[0] = x[i]; y[i] = t[0] * t[0]; }", {"f/i": (True, True)}),
    # a wavefront: the counter of the host loop is another, and what the kernel runs are the user's statements
    ("for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) a[i][j] = a[i - 1][j] + a[i][j - 1];",
     {"f/i/j": (True, True)}),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), CASES)
def test_loops_in_kernels(body: str, expected: dict[str, tuple[bool, bool]], tmp_path: Path) -> None:
    found, known = served(body, tmp_path)
    answers = {name: known[name].loop for name in expected}
    told = {n: (found.kernel(loop) is not None, found.is_made_parallel(loop)) for n, loop in answers.items()}
    assert told == expected


def test_without_a_plan_no_kernel_serves_anything(tmp_path: Path) -> None:
    found, known = served(CASES[0][0], tmp_path, plan=False)
    loop = known["f/i"].loop
    assert found.kernel(loop) is None and found.is_made_parallel(loop)
    assert found.held == {} and found.around == {}


def test_what_stays_in_order_and_what_is_combined(tmp_path: Path) -> None:
    body = "for (int i = 1; i < n; i++) x[i] = x[i - 1] * x[i - 1];\n"
    body += "double s = 0; for (int k = 0; k < n; k++) s += y[k]; x[0] = s;"
    found, known = served(body, tmp_path)
    chain, total = known["f/i"].loop, known["f/k"].loop
    assert found.find_ordered(chain) is not None and found.find_combined(chain) is None
    assert found.find_combined(total) is not None and found.find_ordered(total) is None


def test_statements_in_kernels_of_a_loop_that_the_host_counts(tmp_path: Path) -> None:
    body = "for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) a[i][j] = a[i - 1][j / 2] * y[j];\n"
    body += "for (int k = 1; k < n; k++) x[k] = x[k - 1] * x[k - 1];"
    found, known = served(body, tmp_path)
    holder = found.holder_of_statements(known["f/i"].loop)
    assert holder is not None and holder is found.kernel(known["f/i/j"].loop)
    assert found.holder_of_statements(known["f/k"].loop) is None


def test_like_statements_that_became_one_when_a_scalar_was_expanded(tmp_path: Path) -> None:
    body = """double w;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            w = a[i][j];
            for (int k = 0; k < j; k++) w -= a[i][k] * a[k][j];
            a[i][j] = w / a[j][j];
        }
        for (int j = i; j < n; j++) {
            w = a[i][j];
            for (int k = 0; k < i; k++) w -= a[i][k] * a[k][j];
            a[i][j] = w;
        }
    }"""
    found, known = served(body, tmp_path)
    first, second = (known[name].loop for name in ("f/i/j/k", "f/i/j#2/k"))
    holder = found.holder_of_statements(first)
    assert holder is not None and holder is found.holder_of_statements(second)
