"""One clock of one core, state by state. Its rules stand in traces.py, clock for clock."""

from __future__ import annotations

from itertools import count

from tests.simt.clocks.traces import machine
from tests.simt.mask.programs import program
from warpsmith.simt.clocks.caches import Dram, LineCache
from warpsmith.simt.clocks.core import Core, SharedByCores
from warpsmith.simt.clocks.model import ClockLaunch
from warpsmith.simt.mask.run import Groups
from warpsmith.simt.mask.step import begin_wave


def test_states_of_a_wave_up_to_its_end() -> None:
    shape = machine(pipe=2, waves=2)
    launch = ClockLaunch(program("mul.u32 r0.x, lane_id, u(2)\nmov r0.y, r0.x\nret\n"), shape, {}, Groups(4))
    dram = Dram(shape.dram, 64)
    core = Core(0, launch, 2, {}, SharedByCores(LineCache(shape.l2, 64, dram), dram, count()))
    core.begin(1, begin_wave(5, 0, 4, 4, (1, 4)))
    assert core.has_room(0) and not core.has_room(1) and core.oldest() == (5, 0, 5)
    states = []
    for clock in range(7):
        idle, moment = core.clock(clock)
        assert idle.state == "empty" and core.busy == (clock < 6 and core.slots[1] is not None)
        states.append((moment.state, moment.index))
    # 0 mul, there at 2 + 1 = 3; 3 mov, there at 5; 5 ret
    assert states == [
        ("active", 0), ("dependency", 1), ("dependency", 1), ("active", 1), ("dependency", 2), ("active", 2),
        ("empty", -1),
    ]  # fmt: skip
    assert (core.instructions, core.lane_instructions, [one.end for one in core.alus]) == (3, 12, [2, 4])
