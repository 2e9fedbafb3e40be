"""The machine with clocks, as its rules say it: slow, and the oracle of the compiled one.

each clock:  free slots get the next waves: slot 0 of every core, slot 1 …
             each core goes through its clock, one after the other (core.py)
"""

from __future__ import annotations

from itertools import count
from typing import Final

import numpy as np

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.simt.clocks.caches import Dram, LineCache
from warpsmith.simt.clocks.core import EMPTY, Core, SharedByCores, SlotMoment
from warpsmith.simt.clocks.formed import FormedCore
from warpsmith.simt.clocks.model import (
    CACHES,
    STATES,
    THREAD_STATES,
    CacheEvents,
    CacheName,
    ClockLaunch,
    ClockRun,
    ClockTotals,
    Stretch,
)
from warpsmith.simt.clocks.watching import ClockWatcher
from warpsmith.simt.mask.resources import Views, place_views
from warpsmith.simt.mask.run import waves_of
from warpsmith.simt.mask.stack import MaskFault
from warpsmith.simt.mask.step import FaultError, begin_wave

__all__ = ["run_reference", "slots_for"]


def slots_for(launch: ClockLaunch) -> int:
    """Return how many waves a core has room for; raises UsageError where there is room for none."""
    machine, needed = launch.machine, max(1, launch.program.registers)
    if needed > machine.registers:
        message = f"the program needs {needed} registers, and a core of '{machine.title}' has {machine.registers}"
        remedy = f"set registers = {needed} in the machine's file, or use fewer of them: r0, r1 …"
        raise UsageError(Finding("MSK006", "error", message, help=(remedy,)))
    return min(machine.waves, machine.registers // needed)


def run_reference(launch: ClockLaunch, watcher: ClockWatcher | None = None) -> ClockRun:
    """Run a launch, and show each clock to who watches; raises UsageError where the program does not fit the machine or
    its views."""
    return _Machine(launch).run(watcher)


_MASKED: Final = THREAD_STATES.index("masked")
_OF_THREAD: Final = {
    state: THREAD_STATES.index(state if state in ("active", "ready") else "stalled") for state in STATES
}


class _Machine:
    """All cores, and what has happened on them."""

    def __init__(self, launch: ClockLaunch) -> None:
        machine = launch.machine
        self.launch = launch
        self.views: Views = place_views(launch.program, launch.views)
        self.slots = slots_for(launch)
        self.dram = Dram(machine.dram, machine.line)
        self.l2 = LineCache(machine.l2, machine.line, self.dram)
        shared, kind = SharedByCores(self.l2, self.dram, count()), FormedCore if machine.forms else Core
        self.cores = [kind(n, launch, self.slots, self.views, shared) for n in range(machine.cores)]
        self.waves = waves_of(launch.groups, machine.width)
        self.begun = 0
        self.thread_clocks = np.zeros((launch.groups.size * launch.groups.count, len(THREAD_STATES)), np.int64)
        self.slot_clocks = dict.fromkeys(STATES, 0)
        self.open: dict[tuple[int, int], tuple[int, SlotMoment]] = {}
        self.stretches: list[Stretch] = []

    def run(self, watcher: ClockWatcher | None = None) -> ClockRun:
        now, fault = 0, None
        try:
            while self._begin_waves() or any(core.busy for core in self.cores):
                if now == self.launch.most:
                    raise FaultError(self._endless(now))
                if watcher is not None:
                    watcher.before(now, self.cores)
                moments = [core.clock(now) for core in self.cores]
                for core, told in enumerate(moments):
                    self._record(core, now, told)
                if watcher is not None:
                    watcher.behind(now, self.cores, moments)
                now += 1
        except FaultError as error:
            fault = error.fault
        return self._result(now, fault)

    def _begin_waves(self) -> bool:
        """Put waves into free slots; return whether any began."""
        before = self.begun
        for at in range(self.slots):
            for core in self.cores:
                if core.has_room(at) and self.begun < len(self.waves):
                    first, lanes = self.waves[self.begun]
                    machine = self.launch.machine
                    shape = (self.launch.program.registers, machine.stack)
                    core.begin(at, begin_wave(self.begun, first, lanes, machine.width, shape))
                    self.begun += 1
        return self.begun > before

    def _endless(self, now: int) -> MaskFault:
        """Return the fault of the oldest wave that still runs."""
        _, pc, number = min(oldest for core in self.cores if (oldest := core.oldest()) is not None)
        return MaskFault("endless", pc, number, at=(now, 0))

    def _record(self, core: int, now: int, moments: list[SlotMoment]) -> None:
        for at, moment in enumerate(moments):
            self.slot_clocks[moment.state] += moment.state != "empty"
            if not self.launch.recorded:
                continue
            self._count_threads(moment)
            start, before = self.open.get((core, at), (0, EMPTY))
            if before != moment:
                self._close(core, at, start, now, before)
                start = now
            self.open[core, at] = (start, moment)

    def _count_threads(self, moment: SlotMoment) -> None:
        """Count a clock of the threads of a wave."""
        state = _OF_THREAD[moment.state]
        if moment.threads:
            self.thread_clocks[list(moment.threads), state] += 1
        elif moment.wave >= 0:
            first, lanes = self.waves[moment.wave]
            for lane in range(lanes):
                self.thread_clocks[first + lane, state if moment.mask >> lane & 1 else _MASKED] += 1

    def _close(self, core: int, slot: int, start: int, end: int, moment: SlotMoment) -> None:
        if end == start:
            return
        self.stretches.append(Stretch(core, slot, start, end, moment.state, moment.wave, moment.index, moment.mask))

    def _result(self, now: int, fault: MaskFault | None) -> ClockRun:
        slots = max(len(core.slots) for core in self.cores)
        self.slot_clocks["empty"] = slots * len(self.cores) * now - sum(self.slot_clocks.values())
        for core in range(len(self.cores) if self.launch.recorded else 0):
            for at in range(slots):
                start, moment = self.open.get((core, at), (0, EMPTY))
                self._close(core, at, start, now, moment)
        events = sorted(self._events())
        sums = {name: [one for one in events if one.cache == name] for name in CACHES}
        alus = sorted(stretch for core in self.cores for stretch in core.alus)
        totals = ClockTotals(
            now,
            sum(core.instructions for core in self.cores),
            sum(core.lane_instructions for core in self.cores),
            tuple(self.slot_clocks.values()),
            sum(one.end - one.start for one in alus),
            tuple(
                (sum(e.hits for e in s), sum(e.misses for e in s), sum(e.evictions for e in s)) for s in sums.values()
            ),
            self.dram.bytes,
        )
        left = tuple(sorted(one for core in self.cores for one in core.left))
        if not self.launch.recorded:
            return ClockRun(totals, slots, self.views, fault, left, (), (), (), self.thread_clocks[:0])
        return ClockRun(
            totals, slots, self.views, fault, left, tuple(sorted(self.stretches)), tuple(alus), tuple(events),
            self.thread_clocks,
        )  # fmt: skip

    def _events(self) -> list[CacheEvents]:
        found: list[CacheEvents] = []
        named: list[tuple[CacheName, LineCache]] = [("l2", self.l2)]
        for core in self.cores:
            named += [("l1", core.l1), ("sampler", core.sampler)]
        for name, cache in named:
            found += [CacheEvents(clock, core, name, *counts) for (clock, core), counts in cache.events.items()]
        return found
