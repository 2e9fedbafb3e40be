"""What is seen of the reference clock by clock is its history; locks are why waves wait."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from tests.simt.clocks.test_fast import random_launch
from tests.simt.clocks.traces import TRACES
from warpsmith.simt.clocks.model import ClockLaunch, ClockRun, SlotState
from warpsmith.simt.clocks.reference import run_reference
from warpsmith.simt.clocks.watching import ClockLook, ClockWatcher, SlotLook
from warpsmith.simt.mask.nodes import LaneRegister

SEEDS = range(30)


def plain_launch(seed: int) -> ClockLaunch:
    """Return a random launch on a machine whose waves stay as they began."""
    drawn = random_launch(seed)
    return replace(drawn, machine=replace(drawn.machine, formation="none"))


def watched(launch: ClockLaunch) -> tuple[list[ClockLook], ClockRun]:
    """Return all clocks of a run, and the run."""
    looks: list[ClockLook] = []
    run = run_reference(launch, ClockWatcher(looks.append))
    return looks, run


@pytest.mark.parametrize("seed", SEEDS)
def test_moments_and_alus_are_those_of_the_history(seed: int) -> None:
    looks, run = watched(plain_launch(seed))
    assert [look.clock for look in looks] == list(range(run.totals.clocks))
    for one in run.stretches:
        for clock in range(one.start, one.end):
            seen = looks[clock].cores[one.core].moments[one.slot]
            assert (seen.state, seen.wave, seen.index, seen.mask) == (one.state, one.wave, one.index, one.mask)
    for look in looks:
        for number, core in enumerate(look.cores):
            taken = {one.alu: one for one in run.alus if one.core == number and one.start <= look.clock < one.end}
            assert {alu: one for alu, one in enumerate(core.alus) if one is not None} == taken


def _state(launch: ClockLaunch, slot: SlotLook, clock: int) -> SlotState:
    """Return what a wave that has taken in everything does, by its locks."""
    instruction = launch.program.instructions[slot.pc]
    locked = slot.ready > clock
    if instruction.op.form != "return":
        named = {one.number for one in instruction.operands if isinstance(one, LaneRegister)}
        active = np.array([slot.mask >> lane & 1 for lane in range(launch.machine.width)], bool)
        locked &= active & np.array([number in named for number in range(len(locked))], bool)[:, np.newaxis]
    return "memory" if (locked & slot.by_memory).any() else "dependency" if locked.any() else "ready"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_wave_waits_for_what_is_locked(seed: int) -> None:
    launch = plain_launch(seed)
    for look in watched(launch)[0]:
        for core in look.cores:
            for slot, moment in zip(core.slots, core.moments, strict=True):
                assert (slot is None) == (moment.state == "empty")
                if slot is not None and moment.state != "active":
                    assert moment.state == _state(launch, slot, look.clock)
                    assert (moment.index, moment.mask) == (slot.pc, slot.mask)


def _first(looks: list[ClockLook]) -> list[SlotLook]:
    """Return the first slot in each clock in which it has a wave."""
    return [slot for look in looks for slot in look.cores[0].slots[:1] if slot is not None]


def test_locks_and_stacks_by_hand() -> None:
    """pipe 3: mov in clock 0 locks r0 up to 3, add in clock 3 locks r1 up to 6."""
    trace = next(one for one in TRACES if one.name == "pipe of three")
    looks, _ = watched(trace.launch())
    assert [[int(slot.ready[n].max()) for n in (0, 1)] for slot in _first(looks)] == [
        [0, 0],
        [3, 0],
        [3, 0],
        [3, 0],
        [3, 6],
        [3, 6],
        [3, 6],
    ]
    control = next(one for one in TRACES if one.name == "control takes three clocks")
    looks, _ = watched(control.launch())
    assert [slot.entries for slot in _first(looks)] == [(), *[((15, 2),)] * 3, (), (), ()]


def test_what_was_seen_does_not_change_later() -> None:
    """Registers are copied: the first clock of a wave shows zeros, whatever it computes."""
    looks, _ = watched(plain_launch(3))
    first = looks[0].cores[0].slots[0]
    assert first is not None and not first.registers.any() and not first.ready.any()
    assert any(slot.registers.any() for look in looks for core in look.cores for slot in core.slots if slot is not None)
