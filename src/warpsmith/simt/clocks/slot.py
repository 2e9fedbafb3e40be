"""A wave in its place on a core, and its scoreboard: until when each register of each lane is locked.

A register that an instruction writes is locked in the lanes that are active then, its four words together. Who reads or
writes a register that is locked in a lane that is active waits; `ret` waits for all registers of all lanes. What is
read was copied when the instruction was issued, so nobody waits to overwrite it.
"""

from __future__ import annotations

import numpy as np

from warpsmith.simt.mask.nodes import LaneRegister, MaskInstruction
from warpsmith.simt.mask.step import Wave, lanes_of

__all__ = ["Blocked", "WaveSlot"]

Blocked = str


class WaveSlot:
    """`next_issue`: the clock from which on the wave may issue again; `shown`: the instruction, and its mask, that is
    issued or taken in; `age`: how many waves began before."""

    def __init__(self, wave: Wave, age: int) -> None:
        self.wave, self.age = wave, age
        self.next_issue = 0
        self.shown = (0, wave.stack.exec)
        registers, _, lanes = wave.registers.shape
        self.ready = np.zeros((registers, lanes), np.int64)
        self.by_memory = np.zeros((registers, lanes), bool)

    @property
    def threads(self) -> tuple[int, ...]:
        """The threads, lane by lane, of a formed wave (members.py); none of others, whose lanes tell them."""
        return ()

    def blocked(self, instruction: MaskInstruction, clock: int) -> Blocked:
        """Return what the wave waits for: "memory", "dependency", or "" for nothing."""
        if instruction.op.form == "return":
            locked = self.ready > clock
            return self._kind(bool(locked.any()), bool((locked & self.by_memory).any()))
        active = lanes_of(self.wave.stack.exec, self.wave.width)
        waits = for_memory = False
        for operand in instruction.operands:
            if isinstance(operand, LaneRegister):
                locked = (self.ready[operand.number] > clock) & active
                waits |= bool(locked.any())
                for_memory |= bool((locked & self.by_memory[operand.number]).any())
        return self._kind(waits, for_memory)

    @staticmethod
    def _kind(waits: bool, for_memory: bool) -> Blocked:
        return "memory" if for_memory else "dependency" if waits else ""

    def lock(self, register: int, lane: int, until: int, *, memory: bool) -> None:
        """Lock a register of a lane up to a clock."""
        self.ready[register, lane] = until
        self.by_memory[register, lane] = memory
