"""One clock of one core.

1  each wave: does it take in an instruction still, wait for a register, or could it issue?
2  the scheduler asks waves (schedulers.py); one issues if the unit that it needs is free:
     ALU       free again after chime * clocks; the result is there pipe - 1 clocks later
     memory    a line a clock, each line of the wave's lanes once; loads wait for caches (caches.py)
     sampler   the same, by a cache of its own
     none      control instructions: done, and the wave waits `control` clocks, and `forming` more (formed.py)
   and issues again after `chime` clocks
3  what each slot did is recorded
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from warpsmith.simt.clocks.caches import Dram, LineCache
from warpsmith.simt.clocks.model import AluStretch, ClockLaunch, LeftLanes, SlotState
from warpsmith.simt.clocks.schedulers import Chooser
from warpsmith.simt.clocks.slot import WaveSlot
from warpsmith.simt.mask.nodes import MaskInstruction
from warpsmith.simt.mask.resources import Views
from warpsmith.simt.mask.step import LaneAccesses, Wave, step

__all__ = ["EMPTY", "Core", "SharedByCores", "SlotMoment"]


class SlotMoment(Struct, frozen=True):
    """What a slot does in one clock; `threads`: of a formed wave, lane by lane."""

    state: SlotState
    wave: int = -1
    index: int = -1
    mask: int = 0
    threads: tuple[int, ...] = ()


EMPTY: Final = SlotMoment("empty")


class SharedByCores(Struct, frozen=True, eq=False):
    """What is behind the caches of cores; `numbers`: of waves that are formed."""

    l2: LineCache
    dram: Dram
    numbers: Iterator[int]


class Core:
    """A core: its slots, units, caches; what it counts: instructions, those of lanes, clocks of ALUs."""

    def __init__(
        self,
        number: int,
        launch: ClockLaunch,
        slots: int,
        views: Views,
        shared: SharedByCores,
    ) -> None:
        machine = launch.machine
        self.number, self.program, self.machine, self.views = number, launch.program, machine, views
        self.slots: list[WaveSlot | None] = [None] * slots
        self.l2, self.dram = shared.l2, shared.dram
        self.l1 = LineCache(machine.l1, machine.line, self.l2)
        self.sampler = LineCache(machine.sampler, machine.line, self.l2)
        self.alu_free = [0] * machine.alus
        self.memory_free = self.sampler_free = 0
        self.chooser = Chooser(machine, slots)
        self.instructions = self.lane_instructions = 0
        self.alus: list[AluStretch] = []
        self.left: list[LeftLanes] = []

    @property
    def busy(self) -> bool:
        """Whether a wave is there."""
        return any(slot is not None for slot in self.slots)

    def has_room(self, at: int) -> bool:
        """Whether a wave can begin in a slot."""
        return self.slots[at] is None

    def begin(self, at: int, wave: Wave) -> None:
        """Let a wave begin in a slot."""
        self.slots[at] = WaveSlot(wave, wave.number)

    def oldest(self) -> tuple[int, int, int] | None:
        """Return age, instruction and number of the wave that began first of those that are there."""
        there = [(slot.age, slot.wave.stack.pc, slot.wave.number) for slot in self.slots if slot is not None]
        return min(there, default=None)

    def clock(self, now: int) -> list[SlotMoment]:
        """Go through one clock; raises FaultError where an instruction cannot be executed."""
        moments = self._look_at_all(now)
        issued: set[int] = set()

        def issue(at: int) -> bool:
            slot = self.slots[at]
            assert slot is not None
            if self._issue(slot, now):
                issued.add(at)
            return at in issued

        def candidate(at: int) -> bool:
            return at < len(moments) and moments[at].state == "ready" and at not in issued

        self.chooser.choose(self._ranks(moments), candidate, issue)
        for at, slot in enumerate(self.slots):
            if at in issued and slot is not None:
                moments[at] = SlotMoment("active", slot.wave.number, *slot.shown, slot.threads)
                if slot.wave.ended:
                    self._leave(at)
        return moments

    def _leave(self, at: int) -> None:
        self.slots[at] = None

    def _ranks(self, moments: Sequence[SlotMoment]) -> list[tuple[int, int, int]]:
        """Return for each slot whom `oldest` and `majority` ask first: the lowest."""
        ages = [-1 if slot is None else slot.age for slot in self.slots]
        if self.machine.scheduler != "majority":
            return [(0, 0, age) for age in ages]
        lanes: Counter[int] = Counter()
        for one in moments:
            if one.state == "ready":
                lanes[one.index] += one.mask.bit_count()
        return [(-lanes[one.index], one.index, age) for one, age in zip(moments, ages, strict=True)]

    def _look_at_all(self, now: int) -> list[SlotMoment]:
        """Return what each slot does before any wave issues."""
        return [self._look(slot, now) for slot in self.slots]

    def _look(self, slot: WaveSlot | None, now: int) -> SlotMoment:
        if slot is None:
            return EMPTY
        wave = slot.wave
        if now < slot.next_issue:
            return SlotMoment("active", wave.number, *slot.shown, slot.threads)
        blocked = slot.blocked(self.program.instructions[wave.stack.pc], now)
        state: SlotState = "memory" if blocked == "memory" else "dependency" if blocked else "ready"
        return SlotMoment(state, wave.number, wave.stack.pc, wave.stack.exec, slot.threads)

    def _issue(self, slot: WaveSlot, now: int) -> bool:
        """Let a wave issue, several instructions where waves are interleaved; return whether it issued any."""
        shown = (slot.wave.stack.pc, slot.wave.stack.exec)
        most = self.machine.issue if self.machine.threading == "interleaved" else 1
        done = 0
        while done < most:
            instruction = self.program.instructions[slot.wave.stack.pc]
            if (done and slot.blocked(instruction, now)) or not self._execute(slot, instruction, now):
                break
            done += 1
            if instruction.op.unit == "control":
                break
        if done:
            slot.shown = shown
        return bool(done)

    def _execute(self, slot: WaveSlot, instruction: MaskInstruction, now: int) -> bool:
        """Execute an instruction if its unit is free."""
        alu = self._free_unit(instruction, now)
        if alu is None:
            return False
        machine, wave = self.machine, slot.wave
        index, active = wave.stack.pc, wave.stack.exec
        touched = self._step(slot, instruction, now)
        self.instructions += 1
        self.lane_instructions += active.bit_count()
        slot.next_issue = now + (machine.control_clocks if instruction.op.unit == "control" else machine.chime)
        match instruction.op.unit:
            case "alu":
                end = now + machine.chime * instruction.op.clocks
                self.alu_free[alu] = end
                self.alus.append(AluStretch(self.number, alu, now, end, wave.number))
                self._lock(slot, instruction, active, [end + machine.pipe - 1] * active.bit_count())
            case "memory":
                self.memory_free, times = self._access(self.l1, instruction, touched, now)
                self._lock(slot, instruction, active, times)
            case "sampler":
                self.sampler_free, times = self._access(self.sampler, instruction, touched, now)
                self._lock(slot, instruction, active, times)
            case "control":
                if wave.ended and wave.stack.left_lanes():
                    self.left.append(LeftLanes(wave.number, index, wave.stack.left_lanes()))
        return True

    def _step(self, slot: WaveSlot, instruction: MaskInstruction, now: int) -> LaneAccesses:
        return step(slot.wave, instruction, self.views, now)

    def _free_unit(self, instruction: MaskInstruction, now: int) -> int | None:
        """Return the number of a unit that is free, None where there is none."""
        match instruction.op.unit:
            case "alu":
                return next((n for n, free in enumerate(self.alu_free) if free <= now), None)
            case "memory":
                return 0 if self.memory_free <= now else None
            case "sampler":
                return 0 if self.sampler_free <= now else None
            case "control":
                return 0

    def _access(
        self, cache: LineCache, instruction: MaskInstruction, touched: LaneAccesses, now: int
    ) -> tuple[int, list[int]]:
        """Return when the unit is free again, and for each active lane when its data are there."""
        lines: dict[int, int] = {}
        for lane in touched.addresses:
            for address in lane:
                number = address // self.machine.line
                if number in lines:
                    continue
                at = now + len(lines)
                if instruction.op.writes:
                    lines[number] = max(cache.look(number, at, self.number), now + 1)
                else:
                    lines[number] = self.dram.move(at)
        times = [max(lines[address // self.machine.line] for address in lane) for lane in touched.addresses]
        return now + len(lines), times

    def _lock(self, slot: WaveSlot, instruction: MaskInstruction, active: int, times: list[int]) -> None:
        destination = instruction.destination
        if destination is None:
            return
        lanes = [lane for lane in range(self.machine.width) if active >> lane & 1]
        for lane, until in zip(lanes, times, strict=True):
            slot.lock(destination.number, lane, until + self.machine.late, memory=instruction.op.unit != "alu")
