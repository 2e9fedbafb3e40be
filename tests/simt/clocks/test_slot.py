"""The scoreboard of a wave."""

from __future__ import annotations

from tests.simt.mask.programs import program
from warpsmith.simt.clocks.slot import WaveSlot
from warpsmith.simt.mask.step import begin_wave


def test_locks_of_active_lanes_block_and_memory_is_named() -> None:
    add, ret = program("add.u32 r0.x, r1.x, r2.x\nret\n").instructions
    slot = WaveSlot(begin_wave(0, 0, 4, 4, (3, 4)), 0)
    assert slot.blocked(add, 0) == ""
    slot.lock(2, 3, 5, memory=False)
    assert (slot.blocked(add, 4), slot.blocked(add, 5), slot.blocked(ret, 4)) == ("dependency", "", "dependency")
    slot.lock(1, 0, 7, memory=True)
    assert (slot.blocked(add, 4), slot.blocked(add, 6), slot.blocked(add, 7)) == ("memory", "memory", "")
    slot.wave.stack.exec = 0b0110
    assert slot.blocked(add, 4) == "" and slot.blocked(ret, 4) == "memory"
