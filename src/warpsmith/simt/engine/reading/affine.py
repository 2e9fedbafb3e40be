"""Addresses that are one place and a small index: `base + index × step`, the index of 32 bits in each lane.

    a[i * n + j]    base: the parameter a, the same in all lanes    index: i * n + j    step: 4

Vectors of such indices are half as long as those of addresses, and they are compared, stored and read at half the cost.
Imports nothing of LLVM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from warpsmith.ssa.nodes import Address, Constant, Function, Instruction, Memory, Operand, Param, Query, Text, Value
from warpsmith.ssa.types import I32, I64

__all__ = ["IndexedAddress", "Indexing", "indexed_addresses"]

_WIDE: Final = {"smulwide": True, "umulwide": False}
_EXTENDED: Final = {"sext": True, "zext": False}
_MOST: Final = 4
"""Summands that an address may have."""
_ALONG: Final = frozenset({"add", "sub", "or", "xor", "sext", "zext", "trunc", "smin", "smax", "umin", "umax"})
"""Ops whose results grow from lane to lane as their operands do, most often."""
_DEEP: Final = 12


class Indexing(Struct, frozen=True):
    """What is multiplied with an index, whether that is signed, and whether indices are likely to follow each other
    from lane to lane."""

    step: int
    signed: bool
    follows: bool


class IndexedAddress(Struct, frozen=True):
    """The address of an access: the sum of `parts` (parameters and variables), `moved` bytes behind it, and `index` ×
    `indexing.step`."""

    parts: tuple[Instruction, ...]
    moved: int
    index: Operand
    indexing: Indexing


def indexed_addresses(function: Function) -> Mapping[Instruction, IndexedAddress]:
    """Return the accesses of a function whose addresses are of this form."""
    made = {value: i for _, i in function.instructions() for value in i.results}
    accesses = [i for _, i in function.instructions() if isinstance(i.detail, Memory)]
    found = {i: _Sum(made).address(i.operands[0]) for i in accesses}
    return {i: address for i, address in found.items() if address is not None}


class _Sum:
    """An address while it is taken apart."""

    def __init__(self, made: Mapping[Value, Instruction]) -> None:
        self.made = made
        self.parts: list[Instruction] = []
        self.moved = 0
        self.indices: list[tuple[Operand, int, bool]] = []

    def address(self, operand: Operand) -> IndexedAddress | None:
        """Return an address in this form; None where it is not."""
        if operand.type != I64 or not self.take(operand) or len(self.indices) != 1 or not self.parts:
            return None
        index, step, signed = self.indices[0]
        indexing = Indexing(step, signed, follows=_slope(index, self.made, 0) == 1)
        return IndexedAddress(tuple(self.parts), self.moved, index, indexing)

    def take(self, operand: Operand) -> bool:
        """Take a summand; return whether it is one of these."""
        if len(self.parts) + len(self.indices) > _MOST:
            return False
        if isinstance(operand, Constant):
            self.moved += operand.bits
            return True
        source = self.made.get(operand) if isinstance(operand, Value) else None
        if source is None:
            return False
        if isinstance(source.detail, Param | Address) and len(source.results) == 1:
            self.parts.append(source)
            return True
        if source.op == "add":
            return all(self.take(one) for one in source.operands)
        if source.op == "to_generic" and isinstance(source.detail, Text) and source.detail.text == "global":
            return self.take(source.operands[0])
        return self.take_index(source)

    def take_index(self, source: Instruction) -> bool:
        """Take what differs between lanes."""
        if source.op in _WIDE:
            index, step = source.operands
            if isinstance(step, Constant) and step.type == I32 and 0 < step.bits < 1 << 16:
                self.indices.append((index, step.bits, _WIDE[source.op]))
                return True
        if source.op in _EXTENDED and source.operands[0].type == I32:
            self.indices.append((source.operands[0], 1, _EXTENDED[source.op]))
            return True
        if source.op in ("mul", "shl") and isinstance(source.operands[1], Constant):
            number = source.operands[1].bits
            inner = self.made.get(source.operands[0]) if isinstance(source.operands[0], Value) else None
            times = number if source.op == "mul" else 1 << min(number, 16)
            if inner is not None and inner.op in _EXTENDED and inner.operands[0].type == I32 and 0 < times < 1 << 16:
                self.indices.append((inner.operands[0], times, _EXTENDED[inner.op]))
                return True
        return False


def _slope(operand: Operand, made: Mapping[Value, Instruction], depth: int) -> int | None:
    """Return by how much a number is likely to grow from lane to lane: 0, 1, or None (neither, or not known)."""
    source = made.get(operand) if isinstance(operand, Value) else None
    if source is None or depth > _DEEP:
        return 0  # a constant; or what a loop counts, which it most often does for all lanes alike
    if isinstance(source.detail, Query):
        return int(source.detail.register in ("tid.x", "laneid"))
    if source.op in _ALONG:
        slopes = [_slope(one, made, depth + 1) for one in source.operands]
        return None if None in slopes else min(1, sum(one or 0 for one in slopes))
    if source.op in ("mul", "shl"):
        return 0 if all(_slope(one, made, depth + 1) == 0 for one in source.operands) else None
    return 0 if isinstance(source.detail, Param) else None
