"""Threads with a home, and waves of them."""

from __future__ import annotations

import numpy as np

from tests.simt.clocks.traces import machine
from tests.simt.mask.programs import program
from warpsmith.simt.clocks.members import FormedWave, ThreadHomes
from warpsmith.simt.mask.parting import Together
from warpsmith.simt.mask.step import begin_wave

(ADD,) = program("add.u32 r0.x, r1.x, u(1)\nret\n").instructions[:1]


def test_what_is_gathered_comes_from_homes_and_goes_back_there() -> None:
    homes = ThreadHomes(machine(), 2, 2)
    homes.begin(0, begin_wave(3, 12, 4, 4, (2, 4)))
    homes.begin(1, begin_wave(4, 16, 2, 4, (2, 4)))
    assert homes.alive == [4, 2]
    homes.registers[0, 1, 2, 3], homes.registers[1, 1, 2, 0] = 70, 80
    homes.ready[1, 1, 0] = 9
    one, other = (FormedWave(n, Together(lanes, 5, (7,)), homes, (2, 4)) for n, lanes in ((8, 0b1000), (9, 0b0001)))
    one.lane[3], other.place[0] = 3, 1
    other.move(0, one, 1)
    assert (one.members, other.members, one.meets_at) == ([1, 3], [], (5, (7,)))
    assert one.blocked(ADD, 8) == "dependency" and one.blocked(ADD, 9) == ""
    wave = one.wave
    assert wave.registers[1, 2].tolist() == [0, 80, 0, 70]
    assert [wave.threads[lane] for lane in (1, 3)] == [16, 15]
    assert [wave.lanes[lane] for lane in (1, 3)] == [0, 3] and [wave.waves[lane] for lane in (1, 3)] == [4, 3]
    wave.registers[0, 0] = np.arange(4)
    one.lock(0, 1, 20, memory=True)
    one.scatter(0, one.members)
    assert homes.registers[1, 0, 0].tolist() == [1, 0, 0, 0] and homes.registers[0, 0, 0].tolist() == [0, 0, 0, 3]
    assert homes.ready[1, 0, 0] == 20 and homes.by_memory[1, 0, 0] and homes.ready[0, 0, 3] == 0
    one.go(Together(0b0010, 6))
    assert (one.members, one.meets_at) == ([1], (6, ()))
