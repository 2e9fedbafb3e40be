"""A core whose waves are formed anew at run time (dynamic warp formation).

    taken in ──► parts, where its threads went two ways ──► waits for registers, as a wave
                        issues ◄── meets ready waves that are at the same instruction, with the same stack ◄──┘

Invariant: a thread is in one wave; a wave that is ready has no thread that waits; of two ready waves with one
instruction and one stack, no thread of the later one has a place in the other. Source: W. Fung, I. Sham, G. Yuan,
T. Aamodt, Dynamic Warp Formation and Scheduling for Efficient GPU Control Flow (MICRO 2007), section 4; the rules are
those of docs/reference/mask-isa.md, "Waves formed anew". Limits: bank conflicts of the register file are not modeled.
"""

from __future__ import annotations

from warpsmith.simt.clocks.core import Core, SharedByCores, SlotMoment
from warpsmith.simt.clocks.members import FormedWave, ThreadHomes
from warpsmith.simt.clocks.model import ClockLaunch
from warpsmith.simt.clocks.schedulers import Chooser
from warpsmith.simt.clocks.slot import WaveSlot
from warpsmith.simt.mask.nodes import MaskInstruction
from warpsmith.simt.mask.parting import Together, part
from warpsmith.simt.mask.resources import Views
from warpsmith.simt.mask.stack import MaskFault, StackError
from warpsmith.simt.mask.step import FaultError, LaneAccesses, Wave, step, true_lanes

__all__ = ["FormedCore"]


class FormedCore(Core):
    """A core; its `slots` are rows of formed waves, as many as there ever were at once."""

    def __init__(self, number: int, launch: ClockLaunch, slots: int, views: Views, shared: SharedByCores) -> None:
        super().__init__(number, launch, slots, views, shared)
        self.shape = (launch.program.registers, self.machine.width)
        self.homes = ThreadHomes(self.machine, slots, launch.program.registers)
        self.numbers = shared.numbers
        self.rows: list[FormedWave | None] = []
        self.slots = self.rows  # type: ignore[assignment]
        self.chooser = Chooser(self.machine, slots * self.machine.width)

    def has_room(self, at: int) -> bool:
        """Whether all threads that began in a slot have ended."""
        return not self.homes.alive[at]

    def begin(self, at: int, wave: Wave) -> None:
        """Let the threads of a wave begin, with a slot as their home."""
        self.homes.begin(at, wave)
        formed = self._form(Together(wave.stack.exec, 0))
        for lane in formed.members:
            formed.place[lane], formed.lane[lane] = at, lane

    def oldest(self) -> tuple[int, int, int] | None:
        """Return age, instruction, and the number of the wave in which its first thread began."""
        there = [row for row in self.rows if row is not None]
        if not there:
            return None
        first = min(there, key=lambda row: row.age)
        return first.age, first.wave.stack.pc, int(self.homes.waves[first.place[first.members[0]]])

    def _form(self, together: Together) -> FormedWave:
        """Return a new wave in the first row that is free."""
        formed = FormedWave(next(self.numbers), together, self.homes, self.shape)
        at = next((at for at, row in enumerate(self.rows) if row is None), len(self.rows))
        self.rows[at : at + 1] = [formed]
        return formed

    def _look_at_all(self, now: int) -> list[SlotMoment]:
        self._part(now)
        ready = [at for at, row in enumerate(self.rows) if self._gets_ready(row, now)]
        for at in ready:
            self._meet(at)
        return [self._look(row, now) for row in self.rows]

    def _part(self, now: int) -> None:
        """Send the threads of waves that have taken a control instruction in where they go."""
        for row in list(self.rows):
            if row is None or not row.ways or now < row.next_issue:
                continue
            for way in row.ways[1:]:
                other = self._form(way)
                other.place[:], other.lane[:] = row.place, row.lane
            row.go(row.ways[0])
            row.ways = ()

    def _gets_ready(self, row: FormedWave | None, now: int) -> bool:
        if row is None or row.pooled or now < row.next_issue:
            return False
        return not row.blocked(self.program.instructions[row.wave.stack.pc], now)

    def _meet(self, at: int) -> None:
        """Let the threads of a wave that gets ready join others."""
        row = self.rows[at]
        assert row is not None
        for other in self.rows:
            if other is None or not other.pooled or other.meets_at != row.meets_at:
                continue
            for lane in row.members:
                to = self._place_for(lane, other)
                if to is not None:
                    row.move(lane, other, to)
        row.pooled = True
        if not row.wave.stack.exec:
            self.rows[at] = None

    def _place_for(self, lane: int, other: FormedWave) -> int | None:
        """Return the lane that a thread takes in another wave, None where there is none for it."""
        taken = other.wave.stack.exec
        free = [lane] if self.machine.formation == "homes" else range(self.machine.width)
        return next((to for to in free if not taken >> to & 1), None)

    def _leave(self, at: int) -> None:
        row = self.rows[at]
        assert row is not None
        for lane in row.members:
            self.homes.alive[row.place[lane]] -= 1
        self.rows[at] = None

    def _step(self, slot: WaveSlot, instruction: MaskInstruction, now: int) -> LaneAccesses:
        assert isinstance(slot, FormedWave)
        slot.pooled = False
        slot.gather()
        try:
            if instruction.op.unit == "control" and instruction.op.form != "return":
                slot.ways = self._ways(slot, instruction, now)
                return LaneAccesses()
            return step(slot.wave, instruction, self.views, now)
        except FaultError as error:
            raise FaultError(self._at_home(slot, error.fault)) from error

    def _ways(self, slot: FormedWave, instruction: MaskInstruction, now: int) -> tuple[Together, ...]:
        """Return where the threads of a wave go."""
        stack = slot.wave.stack
        together = Together(stack.exec, stack.pc, slot.labels)
        try:
            return part(together, instruction, true_lanes(slot.wave, instruction, now), self.machine.stack)
        except StackError as error:
            fault = MaskFault(error.kind, stack.pc, -1, at=(len(slot.labels), 0))
            raise FaultError(fault) from error

    def _at_home(self, slot: FormedWave, fault: MaskFault) -> MaskFault:
        """Return a fault with the wave and the lane in which the thread began."""
        lane = slot.members[0] if fault.lane < 0 else fault.lane
        wave, home = int(self.homes.waves[slot.place[lane]]), int(slot.lane[lane])
        return MaskFault(fault.kind, fault.index, wave, -1 if fault.lane < 0 else home, fault.at)

    def _lock(self, slot: WaveSlot, instruction: MaskInstruction, active: int, times: list[int]) -> None:
        super()._lock(slot, instruction, active, times)
        assert isinstance(slot, FormedWave)
        if instruction.destination is not None:
            slot.scatter(instruction.destination.number, slot.members)
