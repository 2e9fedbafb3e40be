"""One launch on several threads of this computer: the same results and counters; one thread where order may matter."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import pytest

from tests.simt.engine import kernels
from tests.simt.engine.kernels import random_case
from tests.simt.test_interpreter import kernel
from warpsmith.simt.engine import launch as launching
from warpsmith.simt.engine.engine import Checks, Run, run
from warpsmith.simt.engine.support import shares_order, why_refused
from warpsmith.simt.engine.words import Stop
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.nodes import Module

BLOCKS, THREADS = 40, 48
PLACE = """
    mov.u32 %r20, %ctaid.x; mov.u32 %r21, %ntid.x; mad.lo.u32 %r22, %r20, %r21, %r1;
    mul.wide.u32 %rd8, %r22, 4; add.s64 %rd9, %rd1, %rd8;
"""
"""%r22: the number of the thread in the grid, %rd9: where its element is."""
DIVERGENT = kernel(f"""
    {PLACE} rem.u32 %r3, %r22, 13; mov.u32 %r4, 1;
    $top: setp.eq.u32 %p1, %r3, 0; @%p1 bra $out; mul.lo.u32 %r4, %r4, 3; sub.u32 %r3, %r3, 1; bra $top;
    $out: st.global.u32 [%rd9], %r4; ret;
""")
SHARED_ATOMICS = kernel(f"""
    .shared .u32 sum; mov.u32 %r3, sum;
    {PLACE} setp.ne.u32 %p1, %r1, 0; mov.u32 %r2, 0; @!%p1 st.shared.u32 [sum], %r2; bar.sync 0;
    atom.shared.add.u32 %r5, [sum], %r22; bar.sync 0; ld.shared.u32 %r4, [sum]; st.global.u32 [%rd9], %r4; ret;
""")
GLOBAL_ATOMICS = kernel(f"{PLACE} red.global.add.u32 [%rd1], %r22; ret;")
EVERYONE_WRITES = kernel("st.global.u32 [%rd1], %r1; ret;")
NEXT_BLOCK = kernel(f"""
    {PLACE} st.global.u32 [%rd9], %r22; mov.u32 %r23, %nctaid.x; sub.u32 %r23, %r23, 1; setp.eq.u32 %p1, %r20, %r23;
    @%p1 ret; ld.global.u32 %r3, [%rd9+192]; st.global.u32 [%rd9], %r3; ret;
""")
WAITS = kernel("""
    mov.u32 %r20, %ctaid.x; setp.eq.u32 %p1, %r20, 39; mov.u32 %r2, 1; @%p1 st.global.u32 [%rd1], %r2; @%p1 ret;
    $top: ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p1, %r3, 0; @%p1 bra $top; ret;
""")


def _run(
    module: Module, workers: int, checks: Checks | None = None, max_steps: int = 3_000_000
) -> tuple[Run, Sequence[int]]:
    memory = LaunchMemory()
    buffer = memory.allocate("out", bytes(4 * BLOCKS * THREADS))
    arguments = {"out": struct.pack("<Q", buffer.address), "n": bytes(4)}
    launch = Launch((BLOCKS, 1, 1), (THREADS, 1, 1), arguments, max_steps=max_steps)
    made = run(module, "k", launch, memory, checks or Checks(), workers=workers)
    return made, struct.unpack(f"<{BLOCKS * THREADS}I", buffer.data)


@pytest.mark.parametrize("module", [DIVERGENT, SHARED_ATOMICS], ids=["divergent", "shared atomics"])
def test_results_and_counters_are_those_of_one_thread(module: Module) -> None:
    one, out = _run(module, 1)
    assert one.stop is Stop.NONE
    assert len(set(out)) > 10
    for workers in (2, 3, 7, 64):
        several, found = _run(module, workers)
        assert (several.stop, several.alone, found) == (Stop.NONE, "", out)
        assert several.counts == one.counts


def test_random_kernels_are_the_same_on_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels.KernelText, "sum", kernels.KernelText.own)
    compared = 0
    for seed in range(60):
        case = random_case(seed)
        function = case.module.functions[0]
        if case.launch.blocks == 1 or why_refused(case.module, function, case.placed(checks=True)[1]):
            continue
        assert not shares_order(function)
        found = []
        for workers in (1, 3):
            memory, launch = case.placed(checks=True)
            made = run(case.module, case.name, launch, memory, Checks(), workers=workers)
            found.append((made.stop, made.counts, [bytes(b.data) for b in memory.buffers]))
        assert found[0][0] is found[1][0]
        if found[0][0] is Stop.NONE:
            assert found[0] == found[1], seed
            compared += 1
        if compared == 3:
            return
    raise AssertionError(f"only {compared} were compared")


def test_atomic_operations_on_memory_of_all_blocks_are_for_one_thread() -> None:
    several, out = _run(GLOBAL_ATOMICS, 3)
    assert several.alone == "atomic operations on memory that all blocks share"
    assert out[0] == sum(range(BLOCKS * THREADS))


@pytest.mark.parametrize("module", [EVERYONE_WRITES, NEXT_BLOCK], ids=["writes", "next block"])
def test_where_blocks_race_one_thread_runs_them(module: Module) -> None:
    one, out = _run(module, 1)
    for workers in (2, 5):
        several, found = _run(module, workers)
        assert several.alone
        assert (several.stop, several.counts, found) == (one.stop, one.counts, out)


def test_blocks_that_wait_for_each_other_are_the_interpreters() -> None:
    several, _ = _run(WAITS, 3)
    assert several.stop in (Stop.BUDGET, Stop.RACE)
    assert several.problem is None


def test_races_are_looked_for_though_nobody_asks() -> None:
    """Without, what a racing kernel computes would differ from run to run."""
    unchecked = Checks(races=False, uninitialized=False)
    one, out = _run(NEXT_BLOCK, 1, unchecked)
    several, found = _run(NEXT_BLOCK, 4, unchecked)
    assert one.stop is several.stop is Stop.NONE
    assert several.alone.startswith("a data race")
    assert found == out
    assert several.counts == one.counts


def test_races_between_threads_are_found_when_they_have_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each thread gets blocks far from each other, so that its own cells show nothing."""
    calls: list[int] = []

    def split(count: int, share: object, leave: object, *, stack: int) -> None:
        calls.append(count)
        for number in range(count):
            share(number)  # type: ignore[operator]

    def take(self: launching._Run) -> tuple[int, int]:
        first, self.following = self.following, self.following + 1
        # the first thread runs the even blocks, the second one the odd ones
        half = BLOCKS // 2
        if first in (half, BLOCKS + 1):
            return BLOCKS, 1
        return (2 * first if first < half else 2 * (first - half - 1) + 1), 1

    monkeypatch.setattr(launching, "_SHARES", BLOCKS)
    monkeypatch.setattr(launching, "work_together", split)
    monkeypatch.setattr(launching._Run, "take", take)
    several, _ = _run(NEXT_BLOCK, 2)
    assert calls == [2]
    assert several.alone.startswith("a data race")
    monkeypatch.setattr(launching, "race_between", lambda _: False)
    several, _ = _run(NEXT_BLOCK, 2)
    assert several.alone == ""


def test_a_runaway_kernel_stops_on_all_threads() -> None:
    endless = kernel("$top: add.u32 %r1, %r1, 1; bra $top;")
    several, _ = _run(endless, 3, max_steps=300_000)
    assert several.stop is Stop.BUDGET
    assert several.problem is not None
    assert 0 < several.counts.totals.lane_instructions < 3_000_000
