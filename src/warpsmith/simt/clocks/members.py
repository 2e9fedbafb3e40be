"""Threads that have a home, and waves that are formed of them.

    home of a thread   (slot, lane): where its registers and its scoreboard stay, [slot, register, component, lane]
    a formed wave      for each of its lanes the home of the thread that is there, which may be any

An instruction is executed on copies: what it reads and writes is gathered from the homes, and brought back.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from warpsmith.machine.simt.parameters import ClockMachine
from warpsmith.simt.clocks.slot import WaveSlot
from warpsmith.simt.mask.nodes import MaskInstruction
from warpsmith.simt.mask.parting import Together
from warpsmith.simt.mask.stack import MaskStack
from warpsmith.simt.mask.step import Wave

__all__ = ["FormedWave", "ThreadHomes"]


class ThreadHomes:
    """The threads of a core: `places` for as many waves; `alive`: threads of each that have not ended."""

    def __init__(self, machine: ClockMachine, places: int, registers: int) -> None:
        width = machine.width
        self.registers = np.zeros((places, registers, 4, width), np.uint32)
        self.ready = np.zeros((places, registers, width), np.int64)
        self.by_memory = np.zeros((places, registers, width), bool)
        self.threads = np.zeros((places, width), np.uint32)
        self.waves = np.zeros(places, np.int64)
        self.alive = [0] * places

    def begin(self, place: int, wave: Wave) -> None:
        """Let the threads of a wave begin."""
        self.registers[place] = self.ready[place] = self.by_memory[place] = 0
        self.threads[place], self.waves[place] = wave.threads, wave.number
        self.alive[place] = wave.stack.exec.bit_count()


class FormedWave(WaveSlot):
    """A wave of threads that stand at one instruction: `place` and `lane` of the home of each, by lane of the wave;
    `labels`: the stack that all have; `ways`: where they go from a control instruction; `pooled`: ready, and met
    others."""

    def __init__(self, number: int, together: Together, homes: ThreadHomes, shape: tuple[int, int]) -> None:
        registers, width = shape
        self.homes = homes
        self.place, self.lane = np.zeros(width, np.intp), np.zeros(width, np.intp)
        none = np.zeros(width, np.uint32)
        stack = MaskStack(together.lanes, 0, together.pc, [])
        wave = Wave(number, none, none, none, np.zeros((registers, 4, width), np.uint32), stack)
        super().__init__(wave, number)
        self.labels = together.labels
        self.ways: tuple[Together, ...] = ()
        self.pooled = False

    @property
    def members(self) -> list[int]:
        """The lanes in which there is a thread."""
        return [lane for lane in range(self.wave.width) if self.wave.stack.exec >> lane & 1]

    @property
    def threads(self) -> tuple[int, ...]:
        """The threads, lane by lane."""
        return tuple(int(self.homes.threads[self.place[lane], self.lane[lane]]) for lane in self.members)

    @property
    def meets_at(self) -> tuple[int, tuple[int, ...]]:
        """What threads must have in common to go on together."""
        return self.wave.stack.pc, self.labels

    def move(self, lane: int, other: FormedWave, to: int) -> None:
        """Hand a thread to a lane of another wave, where there is none."""
        other.place[to], other.lane[to] = self.place[lane], self.lane[lane]
        other.wave.stack.exec |= 1 << to
        self.wave.stack.exec &= ~(1 << lane)

    def go(self, way: Together) -> None:
        """Keep these threads only, and go their way."""
        self.wave.stack.exec, self.wave.stack.pc, self.labels = way.lanes, way.pc, way.labels

    def blocked(self, instruction: MaskInstruction, clock: int) -> str:
        """Return what any of its threads waits for."""
        self.gather()
        return super().blocked(instruction, clock)

    def gather(self) -> None:
        """Copy what its threads have."""
        members = np.array(self.members, np.intp)
        place, lane = self.place[members], self.lane[members]
        wave, homes = self.wave, self.homes
        wave.registers[:] = self.ready[:] = self.by_memory[:] = 0
        wave.registers[:, :, members] = homes.registers[place, :, :, lane].transpose(1, 2, 0)
        self.ready[:, members] = homes.ready[place, :, lane].T
        self.by_memory[:, members] = homes.by_memory[place, :, lane].T
        builtins = np.zeros((3, wave.width), np.uint32)
        builtins[0, members] = homes.threads[place, lane]
        builtins[1, members] = lane
        builtins[2, members] = homes.waves[place]
        wave.threads, wave.lanes, wave.waves = builtins

    def scatter(self, register: int, lanes: Iterable[int]) -> None:
        """Bring a register home that was written in these lanes, with its locks."""
        for lane in lanes:
            place, home = self.place[lane], self.lane[lane]
            self.homes.registers[place, register, :, home] = self.wave.registers[register, :, lane]
            self.homes.ready[place, register, home] = self.ready[register, lane]
            self.homes.by_memory[place, register, home] = self.by_memory[register, lane]
