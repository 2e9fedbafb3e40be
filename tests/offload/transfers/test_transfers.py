"""Copies in real programs, and what stands around them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.transfers.abstract_programs import Program as Abstract
from tests.offload.transfers.test_placement import outline
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.offload.plan import OffloadOptions, Port, TransferScheme
from warpsmith.offload.port import plan_port
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import CaptureStmt, Copy, DeviceAlloc, DeviceFree, Function, If, Node, Return
from warpsmith.tree.program import Program
from warpsmith.tree.walk import walk

EXAMPLES = Path(__file__).parents[3] / "examples"


def ported(path: Path, scheme: TransferScheme = "optimized") -> Port:
    program = load_program([str(path)], FrontOptions()).program
    return plan_port(program, analyze(program, PolyOptions()), OffloadOptions(transfers=scheme), PolyOptions())


def from_text(text: str, directory: Path, scheme: TransferScheme = "optimized") -> Port:
    path = directory / "input.c"
    path.write_text("#include <stdlib.h>\n#include <stdio.h>\n" + text)
    return ported(path, scheme)


def function(program: Program, name: str) -> Function:
    return next(f for _, f in program.functions() if f.symbol.name == name)


def nodes(program: Program, name: str, *kinds: type[Node]) -> list[Node]:
    return [n for n in walk(function(program, name).body) if isinstance(n, kinds)]


def test_lu_copies_once_in_front_of_the_k_loop_and_once_behind() -> None:
    port = ported(EXAMPLES / "lu.c")
    # main keeps it from the loop that makes it to the trace
    assert outline(function(port.program, "lu").body.statements) == "loop(k k)"
    inside = [t for t in port.plan.transfers if t.cause.line < 25]
    assert [(t.variable, t.to_device, t.in_loop) for t in inside] == [("A", True, None), ("A", False, None)]
    assert all(t.held for t in inside)
    assert "N * N" in inside[0].section
    assert "sizeof(double)" in inside[0].bytes


def test_jacobi_copies_nothing_in_its_time_loop() -> None:
    port = ported(EXAMPLES / "jacobi2d.c")
    (versions,) = function(port.program, "jacobi2d").body.statements
    assert isinstance(versions, If)
    # main keeps both from the loop that makes them on
    assert outline([versions.then]) == "loop(k k)"
    entered = {(t.variable, t.held) for t in port.plan.transfers if t.to_device}
    assert entered == {("A", True), ("B", True)}
    assert not [t for t in port.plan.transfers if t.in_loop]


def test_the_fragment_scheme_copies_in_the_loop() -> None:
    port = ported(EXAMPLES / "lu.c", "fragment")
    assert outline(function(port.program, "lu").body.statements) == "loop(>A k <A >A k <A)"
    assert {t.in_loop for t in port.plan.transfers if t.cause.line < 25} == {"lu/k"}


def test_every_exit_frees_and_copies_back(tmp_path: Path) -> None:
    text = """int f(int n, double *a) {
        for (int i = 0; i < n; i++) a[i] = 2 * a[i];
        if (n > 5) return 1;
        for (int i = 0; i < n; i++) a[i] += 1;
        return 0;
    }"""
    port = from_text(text, tmp_path)
    body = function(port.program, "f").body.statements
    assert outline(body) == ">a k if(<a return) k <a return"
    assert len(nodes(port.program, "f", DeviceFree)) == 2


def test_memory_is_not_touched_after_free(tmp_path: Path) -> None:
    text = """void f(int n) {
        double *a = malloc(n * sizeof *a);
        for (int i = 0; i < n; i++) a[i] = i;
        for (int i = 0; i < n; i++) a[i] += 1;
        free(a);
        printf("end");
    }"""
    port = from_text(text, tmp_path)
    assert outline(function(port.program, "f").body.statements).replace("h", "").split() == ["k", "k"]


def test_an_unknown_function_sees_the_data_and_may_change_them(tmp_path: Path) -> None:
    text = """void unknown(void); static double a[100];
    void f(void) {
        for (int i = 0; i < 100; i++) a[i] = i;
        unknown();
        for (int i = 0; i < 100; i++) a[i] += 1;
    }"""
    port = from_text(text, tmp_path)
    assert outline(function(port.program, "f").body.statements) == "k <a h >a k <a"


def test_a_local_array_stays_on_the_device_across_an_unknown_function(tmp_path: Path) -> None:
    text = """void unknown(void);
    void f(double *restrict out) {
        double a[100];
        for (int i = 0; i < 100; i++) a[i] = i;
        unknown();
        for (int i = 0; i < 100; i++) out[i] = a[i];
    }"""
    port = from_text(text, tmp_path)
    assert "a" not in {t.variable for t in port.plan.transfers}


def test_a_section_of_fixed_size_has_a_plain_byte_count(tmp_path: Path) -> None:
    port = from_text("static float a[64]; void f(void) { for (int i = 8; i < 64; i++) a[i] *= 2; }", tmp_path)
    assert {(t.section, t.bytes) for t in port.plan.transfers} == {("a[8 .. 64)", "56 * sizeof(float)")}


def test_allocation_comes_first_and_the_copy_right_behind(tmp_path: Path) -> None:
    port = from_text("void f(double *a) { for (int i = 0; i < 64; i++) a[i] *= 2; }", tmp_path)
    kinds = [type(n) for n in nodes(port.program, "f", DeviceAlloc, Copy, DeviceFree)]
    assert kinds == [DeviceAlloc, Copy, Copy, DeviceFree]


def test_what_was_not_touched_is_the_same_node(tmp_path: Path) -> None:
    text = 'void f(double *a) { printf("x"); for (int i = 0; i < 64; i++) a[i] *= 2; if (a[0]) { printf("y"); } }'
    path = tmp_path / "input.c"
    path.write_text("#include <stdio.h>\n" + text)
    program = load_program([str(path)], FrontOptions()).program
    port = plan_port(program, analyze(program, PolyOptions()), OffloadOptions(), PolyOptions())
    old, new = function(program, "f").body.statements, function(port.program, "f").body.statements
    assert old[0] is new[0]
    assert old[-1] is new[-1]


# --- captures


def captured(program: Program, name: str) -> list[tuple[str, str]]:
    return [(n.region, n.symbol.name) for n in nodes(program, name, CaptureStmt) if isinstance(n, CaptureStmt)]


def test_both_programs_capture_the_same_things_in_the_same_order() -> None:
    port = ported(EXAMPLES / "lu.c")
    assert captured(port.reference, "lu") == captured(port.candidate, "lu") != []
    buffers = [n.buffer for n in nodes(port.candidate, "lu", CaptureStmt) if isinstance(n, CaptureStmt)]
    assert all(b is not None and b.name == "A_gpu" for b in buffers)
    assert not nodes(port.program, "lu", CaptureStmt)


def test_the_version_that_runs_when_a_guard_fails_captures_too() -> None:
    port = ported(EXAMPLES / "jacobi2d.c")
    (versions,) = function(port.candidate, "jacobi2d").body.statements
    assert isinstance(versions, If)
    assert versions.other is not None
    then = [n for n in walk(versions.then) if isinstance(n, CaptureStmt)]
    other = [n for n in walk(versions.other) if isinstance(n, CaptureStmt)]
    key = [(n.region, n.symbol.name) for n in then]
    assert key == [(n.region, n.symbol.name) for n in other] == captured(port.reference, "jacobi2d")
    assert all(n.buffer is not None for n in then)
    assert all(n.buffer is None for n in other)


def test_what_is_only_read_is_captured_on_the_host_and_live_counters_too(tmp_path: Path) -> None:
    text = """int f(int n, double *restrict a, const double *restrict b) {
        int i;
        for (i = 0; i < n; i++) a[i] = b[i];
        return i;
    }"""
    port = from_text(text, tmp_path)
    found = [n for n in nodes(port.candidate, "f", CaptureStmt) if isinstance(n, CaptureStmt)]
    assert [(n.symbol.name, n.buffer.name if n.buffer else None, n.ahead) for n in found] == [
            ("a", "a_gpu", True), ("a", "a_gpu", False), ("b", None, False), ("i", None, False),
        ]  # fmt: skip
    assert captured(port.reference, "f") == [(n.region, n.symbol.name) for n in found if not n.ahead]


def test_a_declared_array_is_captured_whole(tmp_path: Path) -> None:
    port = from_text("static double a[10][20]; void f(void) { for (int i = 0; i < 5; i++) a[i][3] = 1; }", tmp_path)
    (capture,) = [n for n in nodes(port.reference, "f", CaptureStmt) if isinstance(n, CaptureStmt)]
    assert capture.extent is not None


# --- the check, by hand


@pytest.mark.parametrize("position", range(3))
def test_the_check_misses_no_copy(position: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every copy of an optimized placement is needed: without it the check complains."""
    from warpsmith.offload.transfers import transfers

    arrange = transfers.__dict__["arrange"]
    monkeypatch.setattr(
        transfers, "arrange", lambda *a: frozenset(c for i, c in enumerate(sorted(arrange(*a))) if i != position)
    )
    p = Abstract()
    with pytest.raises(RuntimeError, match="the transfer check found"):
        p.port(p.kernel("x", "x"), p.host(use="x", write="x"), p.kernel("x", "x"))


def test_a_return_in_the_scope_frees_before_it(tmp_path: Path) -> None:
    p = Abstract()
    moved = p.port(p.kernel("x", "x"), p.when([p.finish()]), p.kernel("x", "x"))
    branch = next(s for s in moved.statements if isinstance(s, If))
    inside = [type(n) for n in walk(branch.then) if isinstance(n, Copy | DeviceFree | Return)]
    assert inside == [Copy, DeviceFree, Return]
