"""The reference machine against traces worked by hand; and those see bugs that are put into it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.simt.clocks.traces import TRACES, Trace, letters, machine
from tests.simt.mask.programs import program, random_text, views_for
from warpsmith.base.errors import UsageError
from warpsmith.machine.simt.parameters import ClockMachine
from warpsmith.simt.clocks.caches import Dram, LineCache
from warpsmith.simt.clocks.core import Core
from warpsmith.simt.clocks.model import STATES, ClockLaunch
from warpsmith.simt.clocks.reference import run_reference, slots_for
from warpsmith.simt.clocks.schedulers import Chooser
from warpsmith.simt.clocks.slot import WaveSlot
from warpsmith.simt.mask.run import Groups, run_masks


@pytest.mark.parametrize("trace", TRACES, ids=lambda trace: trace.name)
def test_a_trace_by_hand(trace: Trace) -> None:
    run = run_reference(trace.launch())
    assert run.fault is None
    assert letters(run) == trace.slots
    assert run.totals.clocks == len(trace.slots[0])


def _seen() -> bool:
    """Whether a trace tells that something is wrong."""
    return any(letters(run_reference(trace.launch())) != trace.slots for trace in TRACES)


def _waits_for_sources_only(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = WaveSlot.blocked

    def blocked(self: WaveSlot, instruction, clock):  # type: ignore[no-untyped-def]
        if instruction.destination is not None and len(instruction.operands) == 2:
            return ""
        return kept(self, instruction, clock)

    monkeypatch.setattr(WaveSlot, "blocked", blocked)


def _locks_all_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    def lock(self: WaveSlot, register: int, lane: int, until: int, *, memory: bool) -> None:
        self.ready[register], self.by_memory[register] = until, memory

    monkeypatch.setattr(WaveSlot, "lock", lock)


def _never_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WaveSlot, "blocked", lambda self, instruction, clock: "")


def _ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = WaveSlot.blocked
    wrong = lambda self, i, clock: "" if i.op.form == "return" else kept(self, i, clock)  # noqa: E731
    monkeypatch.setattr(WaveSlot, "blocked", wrong)


def _parameter(name: str, value: int) -> Callable[[pytest.MonkeyPatch], None]:
    """Return a bug that takes a parameter for another number."""

    def plant(monkeypatch: pytest.MonkeyPatch) -> None:
        kept = Core.__init__

        def begin(self: Core, *given) -> None:  # type: ignore[no-untyped-def]
            kept(self, *given)
            copy = {field: getattr(self.machine, field) for field in ClockMachine.__struct_fields__}
            self.machine = ClockMachine(**{**copy, name: value})

        monkeypatch.setattr(Core, "__init__", begin)

    return plant


def _any_alu_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Core, "_free_unit", lambda self, instruction, now: 0)


def _a_line_a_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Core._access

    def access(self: Core, cache, instruction, touched, now):  # type: ignore[no-untyped-def]
        _, times = kept(self, cache, instruction, touched, now)
        return now + max(1, len(touched.addresses)), times

    monkeypatch.setattr(Core, "_access", access)


def _hits_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = LineCache.look

    def look(self: LineCache, number: int, clock: int, core: int) -> int:
        present = bool(self.sets) and any(line.number == number for line in self.sets[number % len(self.sets)])
        found = kept(self, number, clock, core)
        return clock + self.shape.latency if present else found

    monkeypatch.setattr(LineCache, "look", look)


def _misses_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = LineCache.look

    def look(self: LineCache, number: int, clock: int, core: int) -> int:
        missed = self.sets and not any(line.number == number for line in self.sets[number % len(self.sets)])
        return kept(self, number, clock - self.shape.latency if missed else clock, core)

    monkeypatch.setattr(LineCache, "look", look)


def _memory_is_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Dram, "move", lambda self, clock: clock + 1)


def _stores_are_free(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Core._access

    def access(self: Core, cache, instruction, touched, now):  # type: ignore[no-untyped-def]
        if not instruction.op.writes:
            return now, []
        return kept(self, cache, instruction, touched, now)

    monkeypatch.setattr(Core, "_access", access)


def _always_from_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Chooser, "first", property(lambda self: 0, lambda self, value: None), raising=False)


def _greedy_goes_around(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Chooser._greedy

    def greedy(self: Chooser, candidate, issue) -> None:  # type: ignore[no-untyped-def]
        kept(self, candidate, issue)
        self.current = [(slot + self.groups) % self.slots for slot in self.current]

    monkeypatch.setattr(Chooser, "_greedy", greedy)


def _all_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpsmith.simt.clocks.reference.slots_for", lambda launch: launch.machine.waves)


BUGS = {
    "no write after write": _waits_for_sources_only, "locks all lanes": _locks_all_lanes, "no scoreboard": _never_waits,
    "ret does not wait": _ends_at_once, "control takes one clock": _parameter("control", 1),
    "control takes two": _parameter("control", 2), "pipe is one": _parameter("pipe", 1),
    "pipe is two": _parameter("pipe", 2), "no chime": _parameter("lanes_per_alu", 4),
    "no unit is held": _any_alu_is_free, "no coalescing": _a_line_a_lane,
    "hits do not wait for the line": _hits_at_once,
    "a miss costs no look": _misses_at_once, "bandwidth is endless": _memory_is_wide,
    "stores are free": _stores_are_free,
    "round robin begins at 0": _always_from_the_first, "greedy goes around": _greedy_goes_around,
    "registers bound nothing": _all_slots,
}  # fmt: skip


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_is_seen_by_a_trace(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    BUGS[bug](monkeypatch)
    assert _seen()


@pytest.mark.parametrize("seed", range(12))
def test_clocks_change_no_results_and_every_clock_is_accounted_for(seed: int) -> None:
    made, views = program(random_text(seed)), views_for(21, seed)
    scheduler = ("greedy", "round-robin", "oldest")[seed % 3]
    shape = machine(waves=3, alus=2, issue=2, scheduler=scheduler, stack=32, lanes_per_alu=2, pipe=2)
    run = run_reference(ClockLaunch(made, shape, views, Groups(21)))
    free = run_masks(made, views, Groups(21), 4)
    assert run.fault is None
    assert all(np.array_equal(run.views[key].words, bound.words) for key, bound in free.views.items())
    assert run.totals.instructions == sum(len(wave) for wave in free.masks)
    assert run.totals.lane_instructions == sum(mask.bit_count() for wave in free.masks for _, mask in wave)
    assert sum(run.totals.slot_clocks) == run.totals.clocks * run.slots
    for state, clocks in zip(STATES, run.totals.slot_clocks, strict=True):
        assert clocks == sum(one.end - one.start for one in run.stretches if one.state == state)
    # stretches of a slot are its clocks without a gap
    for slot in range(run.slots):
        own = [one for one in run.stretches if one.slot == slot]
        assert [one.start for one in own] == [0, *[one.end for one in own[:-1]]] and own[-1].end == run.totals.clocks


def test_caches_are_counted_in_their_clock() -> None:
    (trace,) = (one for one in TRACES if one.name == "a miss and a hit")
    run = run_reference(trace.launch())
    assert [(e.clock, e.cache, e.hits, e.misses, e.evictions) for e in run.caches] == [
        (0, "l1", 0, 1, 0), (14, "l1", 1, 0, 0),
    ]  # fmt: skip
    assert run.totals.cache_events == ((1, 1, 0), (0, 0, 0), (0, 0, 0)) and run.totals.dram_bytes == 64


def test_faults_and_what_never_ends() -> None:
    launch = ClockLaunch(program("A:\npush_mask A\njmp A\n"), machine(stack=5), {}, Groups(4))
    fault = run_reference(launch).fault
    assert fault is not None and (fault.kind, fault.at) == ("overflow", (5, 0))
    launch = ClockLaunch(program("A:\njmp A\n"), machine(), {}, Groups(4), most=100)
    run = run_reference(launch)
    assert run.fault is not None and (run.fault.kind, run.totals.clocks) == ("endless", 100)


def test_lanes_that_never_go_on_are_told() -> None:
    text = "push_mask L\nmask_nz lane_id\nret\nL:\nret\n"
    (left,) = run_reference(ClockLaunch(program(text), machine(), {}, Groups(4))).left
    assert (left.wave, left.index, left.lanes) == (0, 2, 1)


def test_a_program_that_needs_more_registers_than_there_are() -> None:
    launch = ClockLaunch(program("mov r8.x, u(1)\nret\n"), machine(registers=8), {}, Groups(4))
    with pytest.raises(UsageError, match="needs 9 registers, and a core of 'test' has 8"):
        slots_for(launch)
