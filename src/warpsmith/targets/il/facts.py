"""Where a component was written last, and between which whole numbers it lies: of programs without control flow.

Invariant: `bounds_of` holds for every thread and every input, read as a signed number; None where nothing is known.
A resource has 8192 elements along an axis at most (the limit of R600 and R700), so that v0 is less than that.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from warpsmith.front.il.nodes import WHOLE, IlInstruction, IlProgram, IlRegister, IlSource
from warpsmith.front.il.printing import print_il_source

__all__ = ["AXIS", "IlFacts", "Read", "power_of"]

AXIS: Final = 8192
Bounds = tuple[int, int] | None


class Read(Struct, frozen=True):
    """A component that is read: of `register`, `letter` of x y z w, 0 or 1; whether its sign is changed."""

    register: IlRegister
    letter: str
    changed: bool = False


def power_of(word: int) -> int | None:
    """Return n where a word is 2**n; None where it is no power of two.

    >>> power_of(8), power_of(1), power_of(0), power_of(12)
    (3, 0, None, None)
    """
    return word.bit_length() - 1 if word and not word & (word - 1) else None


class IlFacts:
    """What is known of a program's components."""

    def __init__(self, program: IlProgram, instructions: Sequence[IlInstruction] | None = None) -> None:
        self.program = program
        self.instructions = tuple(instructions if instructions is not None else program.instructions)

    def read(self, at: int, source: int, letter: str) -> Read:
        """Return what source `source` of instruction `at` reads for component `letter` of the result."""
        one = self.instructions[at].sources[source]
        index = WHOLE.index(letter)
        return Read(one.register, one.swizzle[index], one.absolute or letter in one.negated)

    def literal(self, read: Read) -> int | None:
        """Return the word that is read where it is a literal."""
        if read.changed:
            return None
        if read.letter in "01":
            return 0x3F800000 if read.letter == "1" else 0
        if read.register.kind != "l":
            return None
        return self.program.literals[read.register.number].words[WHOLE.index(read.letter)]

    def number(self, read: Read) -> float | None:
        """Return the float that is read where it is a literal."""
        word = self.literal(read)
        return None if word is None else float(struct.unpack("<f", struct.pack("<I", word))[0])

    def definition(self, at: int, read: Read) -> int | None:
        """Return the instruction before `at` that wrote a component of r; None where it is none."""
        if read.register.kind != "r" or read.changed or read.letter not in WHOLE:
            return None
        for number in range(at - 1, -1, -1):
            target = self.instructions[number].destination
            if target is not None and target.register == read.register and self._writes(number, read.letter):
                return number if read.letter in target.computed else None
        return None

    def _writes(self, at: int, letter: str) -> bool:
        target = self.instructions[at].destination
        return target is not None and target.mask[WHOLE.index(letter)] != "_"

    def same(self, at: int, one: Read, then: int, other: Read) -> bool:
        """Whether what is read before instruction `at` is what is read before `then`."""
        if one != other or (one.register.index is not None and one.register.index.register is not None):
            return False
        if one.register.kind != "r" or one.letter not in WHOLE:
            return one.register.kind in ("l", "cb", "v") or one.letter not in WHOLE
        first, last = sorted((at, then))
        for number in range(first, last):
            target = self.instructions[number].destination
            if target is not None and target.register == one.register and self._writes(number, one.letter):
                return False
        return True

    def bounds_of(self, at: int, read: Read, depth: int = 12) -> Bounds:
        """Return between which numbers a component lies, before instruction `at`."""
        word = self.literal(read)
        if word is not None:
            value = word - (1 << 32) if word >> 31 else word
            return value, value
        defined = self.definition(at, read) if depth else None
        if defined is None:
            return None
        one = self.instructions[defined]
        if one.op.form != "map":
            return None
        return self._computed(defined, one, read.letter, depth - 1)

    def _computed(self, at: int, one: IlInstruction, letter: str, depth: int) -> Bounds:
        reads = [self.read(at, number, letter) for number in range(len(one.sources))]
        match one.op.name:
            case "ftoi" | "ftou" if reads[0].register.kind == "v" and not reads[0].changed:
                return 0, AXIS - 1
            case "and" | "iand":
                known = [b[1] for b in (self.bounds_of(at, r, depth) for r in reads) if b is not None and b[0] >= 0]
                return (0, min(known)) if known else None
            case "mov":
                return self.bounds_of(at, reads[0], depth)
            case "iadd" | "imul" | "ushr" | "ishr" | "udiv" | "umod":
                left, right = (self.bounds_of(at, one_read, depth) for one_read in reads)
                return None if left is None or right is None else _combine(one.op.name, left, right)
            case _:
                return None


def _combine(name: str, left: tuple[int, int], right: tuple[int, int]) -> Bounds:
    """Return the bounds of a result of two numbers; None where it may not fit."""
    low: int
    high: int
    if name in ("iadd", "imul"):
        every = [a + b if name == "iadd" else a * b for a in left for b in right]
        low, high = min(every), max(every)
        return (low, high) if low >= -(1 << 31) and high < 1 << 31 else None
    if left[0] < 0 or right[0] < 0:
        return None
    if name in ("ushr", "ishr"):
        return (left[0] >> right[1], left[1] >> right[0]) if right[1] < 32 else None
    if right[0] < 1:
        return None
    return (left[0] // right[1], left[1] // right[0]) if name == "udiv" else (0, min(left[1], right[1] - 1))


def said(source: IlSource, letter: str) -> str:
    """Return a component of a source in words: cb0[3].x."""
    index = WHOLE.index(letter)
    plain = print_il_source(IlSource(source.register))
    return f"{plain}.{source.swizzle[index]}"
