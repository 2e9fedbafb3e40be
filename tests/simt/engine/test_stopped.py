"""What stopped the compiled machine, in the interpreter's words."""

from __future__ import annotations

import struct

import pytest

from tests.simt.engine.recursive import Recursive, case_of
from tests.simt.test_interpreter import kernel
from warpsmith.simt.engine.engine import Checks, Run, run
from warpsmith.simt.engine.stopped import may_wait
from warpsmith.simt.engine.words import Stop
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.nodes import Module

MORE = ".shared .b32 tile[4];"


def _placed() -> tuple[LaunchMemory, Launch]:
    memory = LaunchMemory()
    buffer = memory.allocate("out", bytes(128))
    return memory, Launch(arguments={"out": struct.pack("<Q", buffer.address), "n": bytes(4)}, max_steps=5000)


def _both(module: Module) -> tuple[Run, tuple[object, ...]]:
    """Return what the machine did, and the interpreter's problems as (message, line, block, kind, where)."""
    memory, launch = _placed()
    made = run(module, "k", launch, memory, Checks())
    memory, launch = _placed()
    outcome = interpret(module, "k", launch, memory)
    return made, tuple((p.message, p.span, p.block, p.kind, p.where) for p in outcome.problems)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("setp.eq.u32 %p1, %r1, 3; @%p1 st.global.u32 [%rd3+200], %r1; ret;", "bounds"),
        ("setp.eq.u32 %p1, %r1, 3; @%p1 st.global.u32 [%rd3+99999996], %r1; ret;", "bounds"),
        ("mov.u32 %r4, tile; setp.eq.u32 %p1, %r1, 3; @%p1 st.shared.u32 [%r4+16], %r1; ret;", "bounds"),
        ("setp.eq.u32 %p1, %r1, 3; @%p1 st.global.u32 [%rd3+2], %r1; ret;", "alignment"),
        ("setp.eq.u32 %p1, %r1, 3; @%p1 trap; ret;", "trap"),
    ],
)
def test_a_mistake_is_told_as_the_interpreter_tells_it(body: str, kind: str) -> None:
    made, problems = _both(kernel(body, MORE))
    assert made.problem is not None and made.problem.kind == kind
    one = made.problem
    assert (one.message, one.span, one.block, one.kind, one.where) in problems
    assert made.counts.totals.lane_instructions > 0


def test_who_never_ends_and_waits_for_nobody_is_told_at_once() -> None:
    made, problems = _both(kernel("$top: add.u32 %r2, %r2, 1; bra $top;"))
    assert made.problem is not None and made.problem.message == "it did not end within 5,000 steps"
    assert [problem[0] for problem in problems] == [made.problem.message]  # type: ignore[index]
    assert 0 < made.counts.totals.lane_instructions <= 5000 + 32 * 8


@pytest.mark.parametrize("wait", ["ld.global.u32 %r2, [%rd3];", "bar.sync 0;", "atom.global.add.u32 %r2, [%rd3], 1;"])
def test_who_may_wait_for_others_is_looked_at_again(wait: str) -> None:
    module = kernel(f"$top: {wait} setp.ne.u32 %p1, %r1, 99; @%p1 bra $top; st.global.u32 [%rd3], %r1; ret;")
    function = module.function("k")
    assert function is not None
    memory, launch = _placed()
    made = run(module, "k", launch, memory, Checks())
    assert made.stop is Stop.BUDGET and made.problem is None
    assert not may_wait(function, None, launch, memory)


def test_who_reads_what_nobody_writes_waits_for_nobody() -> None:
    endless = "ld.global.u32 %r2, [{place}]; setp.ne.u32 %p1, %r1, 99; @%p1 bra $top;"
    more = ".global .align 4 .b8 table[8]; .global .align 4 .b8 other[8];"
    for body, waits in (
        (f"$top: {endless.format(place='%rd3')} ret;", False),
        (f"$top: {endless.format(place='table')} st.global.u32 [%rd3], %r1; ret;", False),
        (f"$top: {endless.format(place='table')} st.global.u32 [table+4], %r1; ret;", True),
        (f"$top: {endless.format(place='table')} ld.global.u64 %rd5, [other]; st.global.u32 [%rd5], %r1; ret;", True),
    ):
        made, problems = _both(kernel(body, more))
        assert made.stop is Stop.BUDGET
        assert (made.problem is None) is waits
        assert [problem[3] for problem in problems] == ["budget"]  # type: ignore[index]


def test_who_calls_without_end_may_wait_as_well() -> None:
    text = """
__device__ int run(int *a, int n) {{ {what} return n ? run(a, n - 1) + run(a, n - 1) : 3; }}
__global__ void k(int *out, const int *in, int n) {{ {before} out[threadIdx.x] = run(out, n); }}
"""
    for what, before, waits in (
        ("", "", False),
        ("", "n += in[0] != 7;", False),
        ("", "n += out[0];", True),
        ("if (*a) return n;", "", True),
        ("*a = 0;", "n += in[0] != 7;", True),
        ("atomicAdd(a, 1);", "", True),
    ):
        case = case_of(Recursive(text.format(what=what, before=before), 60), threads=1, blocks=1, max_steps=5000)
        memory, launch = case.placed(checks=True)
        made = run(case.module, "k", launch, memory, Checks())
        assert made.stop is Stop.BUDGET
        assert (made.problem is None) is waits


def test_a_race_is_the_interpreters_to_tell() -> None:
    made, _ = _both(kernel("st.global.u32 [%rd1], %r1; ret;"))
    assert made.stop is Stop.RACE and made.problem is None
