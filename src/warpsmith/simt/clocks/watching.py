"""What is seen of the reference in each of its clocks: locks, stacks and registers as the clock begins, then what each
slot does in it, and who has the units.

    before(clock)   free slots have their waves, nobody has issued: what waves wait for is decided by this
    behind(clock)   slots, ALUs, memory and sampler as they are in this clock

Registers, locks and stacks of a slot change only where its wave issues; so they are copied only then. Limit: waves that
are formed anew are not seen, since threads join them while they wait.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from warpsmith.simt.clocks.core import Core, SlotMoment
from warpsmith.simt.clocks.model import AluStretch
from warpsmith.simt.clocks.slot import WaveSlot
from warpsmith.simt.mask.values import Words

__all__ = ["ClockLook", "ClockWatcher", "CoreLook", "SlotLook"]


class SlotLook(Struct, frozen=True, eq=False):
    """A wave as a clock begins: its next instruction and mask, entries of its stack (mask, instruction), registers
    [register, component, lane], and up to which clock each register of each lane is locked, and whether by memory."""

    wave: int
    pc: int
    mask: int
    entries: tuple[tuple[int, int], ...]
    registers: Words
    ready: npt.NDArray[np.int64]
    by_memory: npt.NDArray[np.bool_]


class CoreLook(Struct, frozen=True, eq=False):
    """A core in a clock; `slots` as it begins, `moments` what they do; `alus`: what each ALU takes, None for nothing;
    clocks in which memory and sampler are free again."""

    slots: tuple[SlotLook | None, ...]
    moments: tuple[SlotMoment, ...]
    alus: tuple[AluStretch | None, ...]
    memory_free: int
    sampler_free: int


class ClockLook(Struct, frozen=True, eq=False):
    """All cores in one clock."""

    clock: int
    cores: tuple[CoreLook, ...]


class ClockWatcher:
    """Looks at each clock, and hands on what is seen."""

    def __init__(self, at: Callable[[ClockLook], None]) -> None:
        self.at = at
        self.slots: list[tuple[SlotLook | None, ...]] = []
        self.moments: list[tuple[SlotMoment, ...]] = []
        self.alus: dict[tuple[int, int], AluStretch] = {}
        self.read: dict[int, int] = {}

    def before(self, now: int, cores: Sequence[Core]) -> None:
        """Look at all waves as a clock begins."""
        self.slots = [
            tuple(self._slot(number, at, slot) for at, slot in enumerate(core.slots))
            for number, core in enumerate(cores)
        ]

    def _slot(self, core: int, at: int, slot: WaveSlot | None) -> SlotLook | None:
        if slot is None:
            return None
        wave = slot.wave
        if core < len(self.slots) and at < len(self.slots[core]):
            held, did = self.slots[core][at], self.moments[core][at]
            if held is not None and held.wave == wave.number and did.state != "active":
                return held
        entries = tuple(wave.stack.entries)
        copies = (wave.registers.copy(), slot.ready.copy(), slot.by_memory.copy())
        return SlotLook(wave.number, wave.stack.pc, wave.stack.exec, entries, *copies)

    def behind(self, now: int, cores: Sequence[Core], moments: Sequence[Sequence[SlotMoment]]) -> None:
        """Look at what was done in a clock."""
        self.moments = [tuple(told) for told in moments]
        looks = []
        for number, core in enumerate(cores):
            for one in core.alus[self.read.get(number, 0) :]:
                self.alus[number, one.alu] = one
            self.read[number] = len(core.alus)
            taken = (self.alus.get((number, alu)) for alu in range(len(core.alu_free)))
            alus = tuple(one if one is not None and one.end > now else None for one in taken)
            looks.append(CoreLook(self.slots[number], self.moments[number], alus, core.memory_free, core.sampler_free))
        self.at(ClockLook(now, tuple(looks)))
