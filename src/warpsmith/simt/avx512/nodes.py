"""Programs of AVX-512 as assemblers take them in Intel syntax.

    instruction  ::= op [operand {"," operand}]
    operand      ::= register [" {" "k" number "}" ["{z}"]] | number | label
    register     ::= "zmm" number | "k" number | "eax" | …            16 lanes of 32 bits; 16 bits; 32 bits

`zmm0 {k1}` is written in the lanes of k1 alone; the others keep what they have, with {z} they become 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from warpsmith.base.source import Span

__all__ = ["LANES", "AvxInstruction", "AvxLabel", "AvxNumber", "AvxOperand", "AvxProgram", "AvxRegister"]

LANES: Final = 16


class AvxRegister(Struct, frozen=True):
    """A register of a kind; `mask`: the k register behind it (-1: none), `zeroing`: what is masked off becomes 0."""

    kind: Literal["zmm", "k", "r"]
    number: int
    mask: int = -1
    zeroing: bool = False


class AvxNumber(Struct, frozen=True):
    """An integer."""

    value: int


class AvxLabel(Struct, frozen=True):
    """A name of code."""

    name: str


AvxOperand = AvxRegister | AvxNumber | AvxLabel


class AvxInstruction(Struct, frozen=True, eq=False):
    """One instruction, with its place in the text."""

    name: str
    operands: tuple[AvxOperand, ...]
    span: Span


class AvxProgram(Struct, frozen=True, eq=False):
    """Instructions in order; `labels`: the index of the instruction behind each."""

    instructions: tuple[AvxInstruction, ...]
    labels: Mapping[str, int]
