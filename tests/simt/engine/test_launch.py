"""One launch: how far it may run, and that time limits reach it."""

from __future__ import annotations

import struct
import time

import pytest

from tests.simt.engine.agree import Case, agree
from tests.simt.test_interpreter import kernel
from warpsmith.base.time_limit import OutOfTimeError, time_limit
from warpsmith.simt.engine import compile as compile_module
from warpsmith.simt.engine import launch as launch_module
from warpsmith.simt.engine.engine import Checks, Run, run
from warpsmith.simt.engine.words import Stop
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.nodes import Function
from warpsmith.ssa.reader import parse_module

ENDLESS = kernel("$top: bra $top;")
COUNTED = kernel("mov.u32 %r2, 0; $top: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 10; @%p1 bra $top; ret;")


def _run(module, max_steps: int) -> Run:  # type: ignore[no-untyped-def]
    memory = LaunchMemory()
    buffer = memory.allocate("out", bytes(128))
    arguments = {"out": struct.pack("<Q", buffer.address), "n": bytes(4)}
    return run(module, "k", Launch(arguments=arguments, max_steps=max_steps), memory, Checks())


def test_a_launch_may_take_as_many_steps_as_it_needs_and_no_fewer() -> None:
    needed = _run(COUNTED, 10**6).counts.totals.lane_instructions
    assert _run(COUNTED, needed).stop is Stop.NONE
    assert _run(COUNTED, needed - 1).stop is Stop.BUDGET


def test_a_runaway_kernel_runs_out_of_steps() -> None:
    assert _run(ENDLESS, 10**6).stop is Stop.BUDGET


def test_a_time_limit_stops_a_runaway_kernel() -> None:
    start = time.monotonic()
    with pytest.raises(OutOfTimeError), time_limit(0.5):
        _run(ENDLESS, 1 << 62)
    assert time.monotonic() - start < 30


MANY = kernel("""
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, 0;
$top: mad.lo.u32 %r3, %r3, 3, %r2; sub.u32 %r4, %r2, %r1; add.u32 %r2, %r2, 1; and.b32 %r5, %r2, 7;
    setp.ne.u32 %p1, %r5, 0; @%p1 bra $top;
    mov.u32 %r6, %ctaid.x; mul.wide.u32 %rd4, %r6, 128; add.s64 %rd5, %rd3, %rd4; st.global.u32 [%rd5], %r3; ret;""")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_long_launch_goes_on_with_better_code(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[bool] = []
    compile_ = compile_module.compile_kernel

    def note(
        function: Function, width: int, checks: Checks, callees: tuple[Function, ...]
    ) -> compile_module.CompiledKernel:
        compiled.append(checks.quick)
        return compile_(function, width, checks, callees)

    def done(*, quick: bool) -> tuple[Run, bytes]:
        memory = LaunchMemory()
        buffer = memory.allocate("out", bytes(128 * 40))
        arguments = {"out": struct.pack("<Q", buffer.address), "n": bytes(4)}
        launch = Launch((40, 1, 1), arguments=arguments, max_steps=10**9)
        made = run(MANY, "k", launch, memory, Checks(quick=quick), workers=workers)
        return made, bytes(buffer.data)

    monkeypatch.setattr(compile_module, "compile_kernel", note)
    monkeypatch.setattr(launch_module, "_CHUNK", 64)
    right, expected = done(quick=False)
    assert compiled == [False] and not right.why
    monkeypatch.setattr(launch_module, "_COST", -1e9)
    made, found = done(quick=True)
    assert compiled == [False, True, False]
    assert (made.counts.totals, found) == (right.counts.totals, expected)
    monkeypatch.setattr(launch_module, "_COST", 1e9)
    assert done(quick=True)[1] == expected
    assert compiled[3:] == [True]


# as OpenCL passes a constant array: a buffer
CONSTANT = """
kernel @k(table 8 align 8 i64, out 8 align 8 i64)
start:
  %t:i64 = param [table+0]
  %o:i64 = param [out+0]
  %x:i32 = query [tid.x]
  %d:i64 = umulwide %x 4:i32
  %p:i64 = add %t %d
  %q:i64 = add %o %d
  %v:i32 = load [constant +0 align 4] %p
  %w:i32 = load [generic +0 align 4] %p
  %s:i32 = add %v %w
  store [global +0 align 4] %q %s
  return
end
"""


def test_requests_go_through_the_space_that_the_access_names() -> None:
    arrays = {"table": (struct.pack("<40I", *range(40)), True), "out": (bytes(160), True)}
    case = Case(parse_module(CONSTANT), "k", Launch((1, 1, 1), (40, 1, 1), {}), arrays)
    assert agree(case) == ""
    memory, launch = case.placed(checks=True)
    counts = run(case.module, "k", launch, memory, Checks()).counts
    assert [(one.space, one.sectors > 0) for one in counts.requests] == [
        ("constant", False), ("global", True), ("global", True)
    ]  # fmt: skip
