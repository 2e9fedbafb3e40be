"""A running value in a kernel's names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.analyzed import analyzed
from warpsmith.offload.fragments import Draft
from warpsmith.offload.selection.scans import scan_at
from warpsmith.offload.values.kernel_text import Rewriter
from warpsmith.offload.values.running import RunningKernel, kernel_scans
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.types import Symbol

HEAD = "void f(int n, double *restrict a, float *restrict g, int *restrict k, unsigned *restrict w) "


def running(body: str, folder: Path) -> tuple[RunningKernel, Rewriter]:
    program = analyzed(f"{HEAD}{{ {body} }}", folder)
    facts = program.facts["f"].loops[0]
    found = scan_at(program.request("f"), facts, (facts.loop,))
    assert isinstance(found, Draft) and found.scan is not None, found
    values = {s: Symbol(f"{s.name}_gpu", s.name, s.type, "parameter") for s in program.function().parameters}
    return found.scan, Rewriter({}, {}, values, {}, {})


@pytest.mark.parametrize(
    ("body", "op", "neutral", "rounded"),
    [
        # -0.0 + x is x for both zeros
        ("double s = 0; for (int i = 0; i < n; i++) { s += a[i]; a[i] = s; }", "+", "-0.0", True),
        ("float s = 0; for (int i = 0; i < n; i++) { s += g[i]; g[i] = s; }", "+", "-0.0f", True),
        ("double s = 1; for (int i = 0; i < n; i++) { s *= a[i]; a[i] = s; }", "*", "1.0", True),
        ("int s = 0; for (int i = 0; i < n; i++) { s += k[i]; k[i] = s; }", "+", "0", False),
        ("unsigned s = 1; for (int i = 0; i < n; i++) { s *= w[i]; w[i] = s; }", "*", "1", False),
        ("unsigned s = 0; for (int i = 0; i < n; i++) { s ^= w[i]; w[i] = s; }", "^", "0", False),
        ("unsigned s = 0; for (int i = 0; i < n; i++) { s |= w[i]; w[i] = s; }", "|", None, False),
        ("unsigned s = 7; for (int i = 0; i < n; i++) { s &= w[i]; w[i] = s; }", "&", None, False),
    ],
)
def test_what_changes_nothing_and_whether_the_order_shows(
    body: str, op: str, neutral: str | None, rounded: bool, tmp_path: Path
) -> None:
    found, rewriter = running(body, tmp_path)
    (scan,) = kernel_scans(found, rewriter)
    assert scan.op == op
    assert (None if scan.neutral is None else print_expr(scan.neutral)) == neutral
    assert found.is_rounded == rounded and len(found.order_notes) == rounded
    # what the whole loop leaves is the user's variable
    assert scan.target is scan.initial


def test_in_place_nothing_is_left_beside_the_array(tmp_path: Path) -> None:
    found, rewriter = running("for (int i = 1; i < n; i++) a[i] = a[i - 1] + g[i];", tmp_path)
    (scan,) = kernel_scans(found, rewriter)
    assert scan.target is None
    assert (print_expr(scan.initial), print_expr(scan.element)) == ("a_gpu[0]", "g_gpu[i]")
    assert scan.variable is found.values[0].variable


def test_several_running_values_are_one_kernel(tmp_path: Path) -> None:
    body = "int s = 0, t = 0; for (int i = 0; i < n; i++) { if (k[i]) { w[s++] = i; t += k[i]; } } k[0] = s + t;"
    found, rewriter = running(body, tmp_path)
    scans = kernel_scans(found, rewriter)
    elements = {scan.variable.name: print_expr(scan.element) for scan in scans}
    assert elements == {"s": "k_gpu[i] ? 1 : 0", "t": "k_gpu[i] ? k_gpu[i] : 0"} and not found.order_notes


def test_no_running_value_is_none() -> None:
    assert kernel_scans(None, Rewriter({}, {}, {}, {}, {})) == ()
