"""The captures that both programs record: of which objects, from which side, and of which not."""

from __future__ import annotations

from pathlib import Path

from tests.offload.transfers.test_transfers import captured, from_text, nodes
from warpsmith.offload.plan import Port
from warpsmith.tree.nodes import CaptureStmt, For
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.program import Program
from warpsmith.tree.walk import walk


def captures(program: Program, name: str = "f") -> list[CaptureStmt]:
    return [n for n in nodes(program, name, CaptureStmt) if isinstance(n, CaptureStmt)]


def shown(port: Port) -> list[tuple[str, str, bool]]:
    """Return the region and the object of each capture of the port, and whether it is read from the device."""
    return [(c.region, c.symbol.name, c.buffer is not None) for c in captures(port.candidate) if not c.ahead]


def test_each_region_records_what_it_writes_and_what_nobody_may_have_changed(tmp_path: Path) -> None:
    text = """void f(int n, double *restrict a, double *restrict b, const double *restrict c) {
        for (int i = 0; i < n; i++) a[i] = b[i];
        for (int i = 0; i < n; i++) b[i] = a[i] + c[i];
    }"""
    port = from_text(text, tmp_path)
    # b is only read by the first, but written by the second: its newest values may be on the device
    assert shown(port) == [("f/i", "a", True), ("f/i#2", "b", True), ("f/i#2", "c", False)]
    assert captured(port.reference, "f") == [(region, name) for region, name, _ in shown(port)]
    assert all(c.buffer is None for c in captures(port.reference))


def test_the_extent_of_what_a_pointer_leads_to_is_told_by_its_allocation(tmp_path: Path) -> None:
    text = """static double table[10];
    void f(int n, double *restrict a) { double s = 0; for (int i = 2; i < n; i++) a[i] = 1;
        for (int i = 0; i < 5; i++) table[i] = 2; for (int i = 0; i < n; i++) s += a[i]; a[0] = s; }"""
    found = {c.symbol.name: c for c in captures(from_text(text, tmp_path).candidate)}
    assert found["a"].extent is None and print_expr(found["a"].lower) == "0"
    assert found["table"].extent is not None and print_expr(found["table"].extent) == "10"
    assert found["s"].extent is not None and print_expr(found["s"].extent) == "1"


def test_what_a_fragment_owns_is_not_recorded_but_counters_that_live_on_are(tmp_path: Path) -> None:
    text = """int f(int n, double *a) { int i, j; double t;
        for (i = 0; i < n; i++) { t = a[i]; a[i] = t * t; }
        for (j = 0; j < n; j++) a[j] += 1;
        return j; }"""
    port = from_text(text, tmp_path)
    assert [(region, name) for region, name, _ in shown(port)] == [("f/i", "a"), ("f/j", "a"), ("f/j", "j")]
    # behind the host's statement that sets it
    last = captures(port.candidate)[-1]
    assert (last.symbol.name, last.buffer, last.element) == ("j", None, last.symbol.type)


def test_captures_stand_in_the_loop_around_their_region(tmp_path: Path) -> None:
    text = """void f(int n, double *a) { for (int t = 0; t < n; t++)
        for (int i = 0; i < n; i++) a[t] = a[t] + i * 2.0 - a[i]; }"""
    port = from_text(text.replace("a[t] = a[t] + i * 2.0 - a[i]", "a[i] = a[i] * t"), tmp_path)
    loops = [n for n in nodes(port.reference, "f", For) if isinstance(n, For)]
    inside = [any(isinstance(part, CaptureStmt) for part in walk(loop.body)) for loop in loops]
    assert (
        sum(inside)
        == sum(isinstance(c, CaptureStmt) for c in captures(port.reference))
        == len(captures(port.candidate))
    )


def test_where_two_objects_may_share_a_block_the_stale_parts_are_told_first(tmp_path: Path) -> None:
    two = (
        "void f(int n, double *restrict a, double *restrict b) { for (int i = 0; i < n; i++) { a[i] = 1; b[i] = 2; } }"
    )
    found = [(c.symbol.name, c.ahead) for c in captures(from_text(two, tmp_path).candidate)]
    assert found == [("a", True), ("b", True), ("a", False), ("b", False)]
    one = (
        "static double b[9]; void f(int n, double *restrict a) { for (int i = 0; i < 9; i++) { a[i] = 1; b[i] = 2; } }"
    )
    assert not any(c.ahead for c in captures(from_text(one, tmp_path).candidate))


def test_a_function_that_kernels_call_records_nothing(tmp_path: Path) -> None:
    text = """static int g(const int *x) { int s = 0; for (int k = 0; k < 40; k++) s += x[k]; return s; }
    void f(int n, const int *restrict a, int *restrict b) { for (int i = 0; i < n; i++) b[i] = g(a + i); }
    int h(const int *x) { return g(x); }"""
    port = from_text(text, tmp_path)
    assert [c.symbol.name for c in captures(port.reference)] == ["a", "b"]
    assert captured(port.reference, "g") == captured(port.candidate, "g") == []
