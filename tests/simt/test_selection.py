"""Warps that are chosen have the counts that they have among all; what the launch computes is the same."""

from __future__ import annotations

import struct
from collections.abc import Mapping

import pytest

from tests.simt.test_interpreter import kernel
from warpsmith.simt import choose
from warpsmith.simt.choose import Done, Engine, EngineChoice, execute
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.simt.selection import Selection
from warpsmith.ssa.nodes import Module

ELEMENT = """
    mov.u32 %r20, %ctaid.x; mov.u32 %r21, %ntid.x; mad.lo.u32 %r22, %r20, %r21, %r1;
    mul.wide.u32 %rd8, %r22, 4; add.s64 %rd9, %rd1, %rd8;
"""
LOOP = kernel(f"""
    {ELEMENT} rem.u32 %r3, %r22, 7; mov.u32 %r4, 0;
    $top: setp.eq.u32 %p1, %r3, 0; @%p1 bra $out; add.u32 %r4, %r4, %r3; sub.u32 %r3, %r3, 1; bra $top;
    $out: st.global.u32 [%rd9], %r4; ret;
""")
ATOMIC = kernel(f"{ELEMENT} atom.global.add.u32 %r5, [%rd1], 1; st.global.u32 [%rd9+4], %r5; ret;")
BLOCKS, THREADS = 6, 80


def _execute(module: Module, selection: Selection, engine: Engine, checks: bool = True) -> tuple[Done, bytes]:
    memory = LaunchMemory(checks=checks)
    out = memory.allocate("out", bytes(4 * BLOCKS * THREADS + 4))
    arguments = {"out": struct.pack("<Q", out.address), "n": bytes(4)}
    launch = Launch((BLOCKS, 1, 1), (THREADS, 1, 1), arguments)
    return execute(module, "k", launch, memory, EngineChoice(engine, selection=selection)), bytes(out.data)


def _sums(done: Done) -> Mapping[str, int]:
    totals = done.totals
    return {"lanes": totals.lane_instructions, "warps": totals.warp_instructions, "lost": sum(totals.lost.values()),
            "visits": sum(count.visits for count in done.blocks.values()),
            "sectors": sum(request.sectors for request in done.requests)}  # fmt: skip


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
def test_parts_of_a_launch_add_up_to_it(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "TRIAL", 100)
    whole, data = _execute(LOOP, Selection(), engine)
    parts = [Selection((0, 2)), Selection((1, 3, 4, 5), (0,)), Selection((1, 3, 4, 5), (1, 2))]
    found = []
    for part in parts:
        done, same = _execute(LOOP, part, engine)
        assert same == data
        assert done.outcome.complete
        found.append(_sums(done))
    assert {key: sum(one[key] for one in found) for key in found[0]} == _sums(whole)
    assert all(one["lanes"] for one in found)


def test_a_large_launch_is_compiled_and_the_chosen_blocks_are_interpreted() -> None:
    done, _ = _execute(LOOP, Selection((4,), (1,)), "compiled")
    assert done.pieces is not None
    assert [key for key, _ in done.pieces.warps()] == [(4, 1)]
    assert done.outcome.steps > 3 * done.totals.lane_instructions > 0


@pytest.mark.parametrize("checks", [True, False])
def test_where_blocks_may_depend_on_each_other_all_are_interpreted(checks: bool) -> None:
    for module in (ATOMIC, LOOP):
        if module is LOOP and checks:
            continue
        done, _ = _execute(module, Selection((3,)), "compiled", checks)
        assert done.note
        assert done.pieces is not None
        assert {key[0] for key, _ in done.pieces.warps()} == {3}
