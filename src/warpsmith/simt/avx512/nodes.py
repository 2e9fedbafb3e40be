"""Programs of AVX-512 as assemblers take them in Intel syntax.

    instruction  ::= op [operand {"," operand}]
    operand      ::= register [" {" "k" number "}" ["{z}"]] | number | label | memory [" {" "k" number "}"]
    register     ::= "zmm" number | "k" number | "eax" | …            16 lanes of 32 bits; 16 bits; 32 bits
    memory       ::= ["dword ptr"] "[" base ["+" scale "*" index] ["+" number] "]"        base: rax, …; index: rcx, zmm1

`zmm0 {k1}` is written in the lanes of k1 alone; the others keep what they have, with {z} they become 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from warpsmith.base.source import Span

__all__ = ["LANES", "AvxInstruction", "AvxLabel", "AvxMemory", "AvxNumber", "AvxOperand", "AvxProgram", "AvxRegister"]

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


class AvxMemory(Struct, frozen=True):
    """Bytes at `base` + `scale` * `index` + `displacement`; each may be missing (-1, None). The index is a vector where
    every lane has its own place. `mask` as of a register."""

    base: int = -1
    index: AvxRegister | None = None
    scale: int = 1
    displacement: int = 0
    mask: int = -1


AvxOperand = AvxRegister | AvxNumber | AvxLabel | AvxMemory


class AvxInstruction(Struct, frozen=True, eq=False):
    """One instruction, with its place in the text."""

    name: str
    operands: tuple[AvxOperand, ...]
    span: Span


class AvxProgram(Struct, frozen=True, eq=False):
    """Instructions in order; `labels`: the index of the instruction behind each."""

    instructions: tuple[AvxInstruction, ...]
    labels: Mapping[str, int]
