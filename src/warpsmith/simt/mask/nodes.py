"""Programs of the mask ISA.

    program      ::= line*
    line         ::= [label ":"] [instruction] [";" comment]
    instruction  ::= op [operand {"," operand}]
    operand      ::= register | immediate | builtin | view | label
    register     ::= "r" number ["." components]           four 32-bit words in each lane: x y z w
    immediate    ::= ("u" | "f") ["2" | "3" | "4"] "(" number {"," number} ")"
    builtin      ::= "thread_id" | "lane_id" | "wave_id" | "clock"
    view         ::= ("t" | "u" | "s") number ["." components]      read, written, a sampler

Invariant: a label stands for the index of an instruction that exists; all counts of components fit (assembler.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, get_args

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.simt.mask.ops import MaskOp

__all__ = [
    "BUILTINS",
    "BuiltinName",
    "Immediate",
    "LaneBuiltin",
    "LaneRegister",
    "MaskInstruction",
    "MaskOperand",
    "MaskProgram",
    "Target",
    "ViewOperand",
    "sources_of",
]

BuiltinName = Literal["thread_id", "lane_id", "wave_id", "clock"]
BUILTINS: Final[tuple[BuiltinName, ...]] = get_args(BuiltinName)


class LaneRegister(Struct, frozen=True):
    """Components of a register, 0 for x to 3 for w, in the order in which they are read or written."""

    number: int
    components: tuple[int, ...]


class Immediate(Struct, frozen=True):
    """One to four words, as bits; `kind` says how they are written."""

    kind: Literal["u", "f"]
    words: tuple[int, ...]


class LaneBuiltin(Struct, frozen=True):
    """A word that each lane has without a register."""

    name: BuiltinName


class ViewOperand(Struct, frozen=True):
    """A resource that is read (t), written (u), or a sampler (s); `components`: which words or channels of it."""

    kind: Literal["t", "u", "s"]
    number: int
    components: tuple[int, ...] = ()


class Target(Struct, frozen=True):
    """A label, and the index of the instruction behind it."""

    name: str
    index: int


MaskOperand = LaneRegister | Immediate | LaneBuiltin | ViewOperand | Target
MaskSource = LaneRegister | Immediate | LaneBuiltin


class MaskInstruction(Struct, frozen=True, eq=False):
    """One instruction, with its place in the text."""

    op: MaskOp
    operands: tuple[MaskOperand, ...]
    span: Span

    @property
    def destination(self) -> LaneRegister | None:
        """The register that is written."""
        first = self.operands[0] if self.operands else None
        return first if self.op.writes and isinstance(first, LaneRegister) else None

    @property
    def targets(self) -> tuple[int, ...]:
        """The instructions that the labels stand for."""
        return tuple(operand.index for operand in self.operands if isinstance(operand, Target))

    def view(self, kind: str) -> ViewOperand:
        """Return the view of a kind that the operation takes."""
        return next(one for one in self.operands if isinstance(one, ViewOperand) and one.kind == kind)


class MaskProgram(Struct, frozen=True, eq=False):
    """Instructions in order; `labels`: the index of the instruction behind each; `registers`: how many there are."""

    instructions: tuple[MaskInstruction, ...]
    labels: Mapping[str, int]

    @property
    def registers(self) -> int:
        """How many registers a lane needs: up to the highest number that is used."""
        named = (one.number for i in self.instructions for one in i.operands if isinstance(one, LaneRegister))
        return max(named, default=-1) + 1


def sources_of(instruction: MaskInstruction) -> tuple[MaskSource, ...]:
    """Return the operands that are read, in order."""
    read = instruction.operands[1:] if instruction.op.writes else instruction.operands
    return tuple(one for one in read if isinstance(one, LaneRegister | Immediate | LaneBuiltin))
