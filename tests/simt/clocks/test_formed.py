"""Waves that are formed anew: traces worked by hand, the bugs that those see, and results, which are those of masks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.simt.clocks.formed_traces import FORMED_TRACES
from tests.simt.clocks.traces import Trace, lanes, letters, machine
from tests.simt.mask.programs import program, random_text, views_for
from warpsmith.machine.simt.parameters import ClockMachine
from warpsmith.simt.clocks import formed
from warpsmith.simt.clocks.core import Core
from warpsmith.simt.clocks.fast import run_compiled
from warpsmith.simt.clocks.formed import FormedCore
from warpsmith.simt.clocks.members import FormedWave
from warpsmith.simt.clocks.model import ClockLaunch
from warpsmith.simt.clocks.reference import run_reference
from warpsmith.simt.mask.parting import part
from warpsmith.simt.mask.run import Groups, run_masks


@pytest.mark.parametrize("trace", FORMED_TRACES, ids=lambda trace: trace.name)
def test_a_trace_by_hand(trace: Trace) -> None:
    run = run_reference(trace.launch())
    assert run.fault is None
    assert letters(run) == trace.slots
    assert lanes(run) == trace.lanes
    assert run.slots == len(trace.slots)


def _stacks_do_not_count(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(FormedWave, "meets_at", property(lambda self: self.wave.stack.pc))


def _no_homes(patch: pytest.MonkeyPatch) -> None:
    def place(self: FormedCore, lane: int, other: FormedWave) -> int | None:
        return next((to for to in range(self.machine.width) if not other.wave.stack.exec >> to & 1), None)

    patch.setattr(FormedCore, "_place_for", place)


def _homes_only(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        FormedCore, "_place_for", lambda self, lane, other: None if other.wave.stack.exec >> lane & 1 else lane
    )


def _highest_lane_first(patch: pytest.MonkeyPatch) -> None:
    def place(self: FormedCore, lane: int, other: FormedWave) -> int | None:
        free = [lane] if self.machine.formation == "homes" else reversed(range(self.machine.width))
        return next((to for to in free if not other.wave.stack.exec >> to & 1), None)

    patch.setattr(FormedCore, "_place_for", place)


def _forming_is_free(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ClockMachine, "control_clocks", property(lambda self: self.control))


def _crossbar_is_free(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ClockMachine, "late", property(lambda self: 0))


def _who_waits_is_met(patch: pytest.MonkeyPatch) -> None:
    kept = FormedCore._meet

    def meet(self: FormedCore, at: int) -> None:
        for row in self.rows:
            if row is not None:
                row.pooled = True
        kept(self, at)

    patch.setattr(FormedCore, "_meet", meet)


def _nobody_meets(patch: pytest.MonkeyPatch) -> None:
    def meet(self: FormedCore, at: int) -> None:
        row = self.rows[at]
        assert row is not None
        row.pooled = True

    patch.setattr(FormedCore, "_meet", meet)


def _slot_is_free_at_once(patch: pytest.MonkeyPatch) -> None:
    kept = FormedCore._leave

    def leave(self: FormedCore, at: int) -> None:
        kept(self, at)
        self.homes.alive = [0] * len(self.homes.alive)

    patch.setattr(FormedCore, "_leave", leave)


def _others_first(patch: pytest.MonkeyPatch) -> None:
    kept = part
    patch.setattr(formed, "part", lambda *given: tuple(reversed(kept(*given))))


def _minority_first(patch: pytest.MonkeyPatch) -> None:
    kept = Core._ranks
    patch.setattr(
        Core, "_ranks", lambda self, moments: [(-lanes, *rest) for lanes, *rest in kept(self, moments)]
    )  # fmt: skip


BUGS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "stacks do not count": _stacks_do_not_count, "threads leave their homes": _no_homes,
    "threads never leave their homes": _homes_only, "the highest lane is taken": _highest_lane_first,
    "forming is free": _forming_is_free, "the crossbar is free": _crossbar_is_free,
    "who waits is met": _who_waits_is_met, "nobody meets": _nobody_meets,
    "a slot is free at once": _slot_is_free_at_once, "others keep the row": _others_first,
    "minority first": _minority_first,
}  # fmt: skip


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_is_seen_by_a_trace(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    BUGS[bug](monkeypatch)
    runs = [(trace, run_reference(trace.launch())) for trace in FORMED_TRACES]
    assert any((letters(run), lanes(run)) != (trace.slots, trace.lanes) for trace, run in runs)


@pytest.mark.parametrize("seed", range(16))
def test_results_are_those_of_masks_and_threads_do_as_much(seed: int) -> None:
    made, views = program(random_text(seed)), views_for(21, seed)
    shape = machine(
        waves=3, alus=2, issue=2, stack=32, lanes_per_alu=2, pipe=2, formation=("homes", "crossbar")[seed % 2],
        scheduler=("greedy", "round-robin", "oldest", "majority")[seed // 2 % 4],
    )  # fmt: skip
    run, free = run_reference(ClockLaunch(made, shape, views, Groups(21))), run_masks(made, views, Groups(21), 4)
    assert run.fault is None
    assert all(np.array_equal(run.views[key].words, bound.words) for key, bound in free.views.items())
    assert run.totals.lane_instructions == sum(mask.bit_count() for wave in free.masks for _, mask in wave)
    assert sum(run.totals.slot_clocks) == run.totals.clocks * run.slots
    # a thread is in one wave: in no clock there are more than the slots have room for
    for clock in range(0, run.totals.clocks, 7):
        there = [one.mask.bit_count() for one in run.stretches if one.start <= clock < one.end]
        assert sum(there) <= 3 * 4


def test_faults_name_the_wave_and_the_lane_in_which_a_thread_began() -> None:
    # lane 0 of both waves goes to E; there the thread of wave 1 has lane 1, and loads far away
    text = "br_push lane_id, E, C\npop_mask\nE:\nmul.u32 r1.x, wave_id, u(4000)\nld r2.x, t0, r1.x\npop_mask\nC:\nret\n"
    shape = machine(waves=2, formation="crossbar", scheduler="round-robin")
    for run in (run_reference, run_compiled):
        fault = run(ClockLaunch(program(text), shape, views_for(8), Groups(8))).fault
        assert fault is not None and (fault.kind, fault.wave, fault.lane) == ("outside", 1, 0)
    text = "push_mask L\npush_mask L\nL:\npop_mask\n"
    fault = run_reference(ClockLaunch(program(text), machine(stack=1, formation="homes"), {}, Groups(4))).fault
    assert fault is not None and (fault.kind, fault.wave, fault.lane, fault.at) == ("overflow", 0, -1, (1, 0))
    fault = run_reference(ClockLaunch(program("pop_mask\n"), machine(formation="homes"), {}, Groups(4))).fault
    assert fault is not None and (fault.kind, fault.at) == ("underflow", (0, 0))
    fault = run_reference(ClockLaunch(program("A:\njmp A\n"), machine(formation="homes"), {}, Groups(4), 50)).fault
    assert fault is not None and (fault.kind, fault.at) == ("endless", (50, 0))
