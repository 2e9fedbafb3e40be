"""What is said of a clock: pictures of lanes, locks in short and at length."""

from __future__ import annotations

import numpy as np

from tests.simt.clocks.test_watching import watched
from tests.simt.clocks.traces import TRACES, machine
from tests.simt.mask.programs import program
from warpsmith.flows.stepping.clock_answers import (
    HELP,
    Stepped,
    describe_clock,
    describe_locks,
    describe_stack,
    explain_slot,
    lane_picture,
)
from warpsmith.flows.stepping.clock_session import _COMMANDS
from warpsmith.simt.clocks.core import SlotMoment
from warpsmith.simt.clocks.watching import ClockLook, CoreLook, SlotLook

STEPPED = Stepped(program("ld r0.x, t0, u(0)\nadd.u32 r1.x, r0.x, u(1)\nret\n"), machine(waves=2))


def look_of(ready: list[list[int]], memory: list[bool]) -> ClockLook:
    """Return clock 5 of one wave before the add, with locks by register and lane."""
    by_memory = np.array(memory)[:, np.newaxis].repeat(4, axis=1)
    slot = SlotLook(3, 1, 0b1011, ((0b1111, 2),), np.zeros((2, 4, 4), np.uint32), np.array(ready), by_memory)
    moments = (SlotMoment("memory", 3, 1, 0b1011), SlotMoment("empty"))
    return ClockLook(5, (CoreLook((slot, None), moments, (None,), 9, 0),))


def test_lanes() -> None:
    assert lane_picture(0b0101, 0b0111, 4) == "#-#."


def test_locks_in_short_and_at_length() -> None:
    """Lane 2 is masked off: that its register is locked keeps nobody."""
    look = look_of([[8, 8, 40, 7], [0, 0, 0, 5]], [True, False])
    assert list(describe_clock(STEPPED, look, {3: 0b1111})) == [
        "clock 5",
        "slot 0  wave 3   waits for memory   ##-#  line 2: add.u32 r1.x, r0.x, u(1); r0 up to clocks 7 to 8",
        "        locked: r0 up to clocks 7 to 40, by memory",
        "no wave in slot 1",
        "ALU 0   free",
        "memory  taken up to clock 9",
    ]
    assert describe_locks(STEPPED, look, (0, 0)) == (
        "slot 0, wave 3: r0 in lane 3 up to clock 7, by memory; r0 in lanes 0-1 up to clock 8, by memory; "
        "r0 in lane 2 up to clock 40, by memory"
    )
    assert explain_slot(STEPPED, look, (0, 0)).endswith(
        "needs r0 in lane 3 up to clock 7, r0 in lanes 0-1 up to clock 8"
    )
    assert describe_locks(STEPPED, look, (0, 1)) == describe_stack(STEPPED, look, (0, 1)) == "slot 1: no wave"
    assert explain_slot(STEPPED, look, (0, 1)).startswith("slot 1 has no wave")


def test_ret_waits_for_all_registers() -> None:
    trace = next(one for one in TRACES if one.name == "pipe of three")
    launch = trace.launch()
    looks, _ = watched(launch)
    said = explain_slot(Stepped(launch.program, launch.machine), looks[5], (0, 0))
    assert said == "wave 0 waits for a result: line 3: ret needs r1 up to clock 6"


def test_every_command_is_in_the_help() -> None:
    assert [line.split()[0] for line in HELP.splitlines()] == sorted(
        [name for name in _COMMANDS if name != "help"], key=[line.split()[0] for line in HELP.splitlines()].index
    )
