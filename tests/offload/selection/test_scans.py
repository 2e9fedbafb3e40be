"""Loops with a running value: the element, the start and the body of their kernels, and the refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.analyzed import analyzed
from warpsmith.base.verdict import Reason
from warpsmith.offload.fragments import Draft
from warpsmith.offload.plan import OffloadOptions
from warpsmith.offload.selection.scans import is_scan, scan_at
from warpsmith.tree.printing.printer import print_expr, print_stmt

HEAD = "void f(int n, double *restrict a, double *restrict b, const int *restrict at) "
RUNNING = "double s = b[9]; for (int i = 0; i < n; i++) { s += a[i]; b[i] = s; }"
BEFORE = "for (int i = 1; i < n; i++) a[i] = a[i - 1] + b[i];"


def scan(body: str, folder: Path, options: OffloadOptions | None = None) -> Draft | Reason:
    program = analyzed(f"{HEAD}{{ {body} }}", folder)
    facts = program.facts["f"].loops[0]
    assert is_scan(facts), facts.category
    return scan_at(program.request("f", options), facts, (facts.loop,))


def made(body: str, folder: Path) -> Draft:
    found = scan(body, folder)
    assert isinstance(found, Draft), found.text
    return found


@pytest.mark.parametrize(
    ("body", "variable", "start", "text"),
    [
        (RUNNING, "s", "s", "{ s += a[i]; b[i] = s; }"),
        (BEFORE, "a_before", "a[0]", "a[i] = a_before + b[i];"),
        ("for (int i = 3; i < n; i++) a[i + 1] = a[i] + b[i];", "a_before", "a[3]", "a[i + 1] = a_before + b[i];"),
    ],
)
def test_a_thread_starts_with_what_all_before_it_leave(
    body: str, variable: str, start: str, text: str, tmp_path: Path
) -> None:
    found = made(body, tmp_path)
    assert found.scan is not None and found.kind == "nest" and len(found.loops) == 1
    assert (found.scan.values[0].variable.name, print_expr(found.scan.values[0].initial)) == (variable, start)
    assert " ".join(print_stmt(found.scan.body).split()) == text


def test_the_running_value_is_a_cell_and_what_the_body_owns_is_local(tmp_path: Path) -> None:
    found = made(
        "double s = b[9], t; int i; for (i = 0; i < n; i++) { t = a[i] * 2; s += t; b[i] = s; } b[0] = s + i;", tmp_path
    )
    assert [s.name for s in found.locals] == ["t"] and len(found.finals) == 1
    assert {(u.symbol.name, u.kind, u.written) for u in found.uses} >= {("s", "cell", True), ("b", "buffer", True)}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("double s = 0; for (int i = 0; i < at[0]; i++) { s += a[i]; b[i] = s; }", "the loop's bound reads memory"),
        ("double s = 0, t; for (int i = 0; i < n; i++) { t = a[i]; s += t; b[i] = s; } b[0] = t;",
         "'t' has after the loop"),
    ],
)  # fmt: skip
def test_why_it_makes_no_kernel(body: str, said: str, tmp_path: Path) -> None:
    found = scan(body, tmp_path)
    assert isinstance(found, Reason) and said in found.text


def test_sums_of_floating_point_may_be_kept_in_their_order(tmp_path: Path) -> None:
    precise = OffloadOptions(precise_fp=True)
    found = scan(RUNNING, tmp_path, precise)
    assert isinstance(found, Reason) and found.rule == "POR007" and "the running values of s" in found.text
    whole = "int s = 0; for (int i = 0; i < n; i++) { s += at[i]; b[i] = s; }"
    assert isinstance(scan(whole, tmp_path, precise), Draft)


def test_a_plain_loop_is_no_scan(tmp_path: Path) -> None:
    program = analyzed(f"{HEAD}{{ for (int i = 0; i < n; i++) a[i] = b[i]; }}", tmp_path)
    assert not is_scan(program.facts["f"].loops[0])
