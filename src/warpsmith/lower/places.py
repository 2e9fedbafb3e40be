"""Where an object lives while a function runs, and how it is read and written.

    Variable      a local scalar whose address nobody takes: it is no memory, its value goes through phis
    MemoryPlace   `offset` bytes behind an address, in a space
    Bits          a bit-field of the storage unit at a place
    Lanes         some lanes of a vector at a place (OpenCL's v.s02)

An address in a MemoryPlace of space shared or local is one of that space; a pointer's value is always a generic address
(as C's pointers are), and `ssa.spaces` finds out later into which space it leads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.lower.layout import NotModeled, align_of, pieces, stored_type, value_type
from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import Address, Memory, Operand, Space, Text
from warpsmith.ssa.types import I1, I8, I32, I64
from warpsmith.tree import types as tree

__all__ = [
    "Bits",
    "LocalVariable",
    "MemoryPlace",
    "Target",
    "VectorLanes",
    "address_of_symbol",
    "copy",
    "load",
    "load_pieces",
    "place_pointed",
    "pointer_to",
    "store",
    "store_pieces",
]


class LocalVariable(Struct, frozen=True):
    """A local scalar without an address."""

    key: tuple[str, str]
    type: tree.Type


class MemoryPlace(Struct, frozen=True):
    """Memory, `offset` bytes behind an address; `align`: what that is a multiple of, besides what the type of an access
    says: a float4 is aligned to 16 bytes, and so is its x."""

    address: Operand
    space: Space
    offset: int = 0
    volatile: bool = False
    cached: Literal["", "read only", "beside"] = ""
    align: int = 1

    def at(self, offset: int) -> MemoryPlace:
        """Return the place `offset` bytes behind this one."""
        return replace(self, offset=self.offset + offset, align=_shifted_alignment(self.align, offset))

    def with_alignment(self, align: int) -> MemoryPlace:
        """Return the place, of which it is known that it is a multiple of `align`."""
        return replace(self, align=max(self.align, align))


def _shifted_alignment(align: int, offset: int) -> int:
    """Return the alignment of what lies `offset` bytes behind what is aligned."""
    return min(align, offset & -offset) if offset else align


class Bits(Struct, frozen=True):
    """Bits [shift, shift + width) of the unit of type `type` at `place`."""

    place: MemoryPlace
    type: tree.Type
    shift: int
    width: int


class VectorLanes(Struct, frozen=True):
    """Lanes `numbers` of the vector of `element` at `place`."""

    place: MemoryPlace
    element: tree.Type
    numbers: tuple[int, ...]


Target = LocalVariable | MemoryPlace | Bits | VectorLanes


def address_of_symbol(builder: Builder, name: str, space: Space) -> MemoryPlace:
    """Return where a variable of the module or function lies."""
    return MemoryPlace(builder.emit("address", (), I64, Address(name), name), space)


def pointer_to(builder: Builder, place: MemoryPlace) -> Operand:
    """Return the generic address of a place."""
    address = place.address
    if place.offset:
        address = builder.emit("add", (address, constant(I64, place.offset)), I64)
    if place.space == "generic":
        return address
    return builder.emit("to_generic", (address,), I64, Text(place.space))


_OWN_SPACES: dict[str, Space] = {
    "global": "global", "constant": "constant", "shared": "shared", "private": "local",
}  # fmt: skip


def place_pointed(builder: Builder, pointer: Operand, type: tree.Type) -> MemoryPlace:
    """Return the place that a pointer of type `type` leads to."""
    if not isinstance(type, tree.Pointer):
        raise NotModeled("an access through what is no pointer")
    space = _OWN_SPACES.get(type.space, "generic")
    volatile = isinstance(type.to, tree.Scalar) and type.to.volatile
    if space == "generic":
        return MemoryPlace(pointer, "generic", volatile=volatile)
    return MemoryPlace(builder.emit("from_generic", (pointer,), I64, Text(space)), space, volatile=volatile)


def _detail(place: MemoryPlace, offset: int, align: int) -> Memory:
    align = max(align, _shifted_alignment(place.align, offset))
    order: Literal["", "volatile"] = "volatile" if place.volatile else ""
    return Memory(place.space, place.offset + offset, align, order, place.cached)


def load(builder: Builder, target: Target, type: tree.Type) -> Operand:
    """Return the value of a scalar."""
    match target:
        case LocalVariable():
            return builder.read(target.key, value_type(type))
        case MemoryPlace():
            stored = stored_type(type)
            detail = _detail(target, 0, align_of(type))
            found = builder.emit("load", (target.address,), stored, detail)
            return builder.emit("ne", (found, constant(I8, 0)), I1) if value_type(type) == I1 else found
        case Bits():
            return _load_bits(builder, target, type)
        case VectorLanes():
            (number,) = target.numbers
            return load(builder, target.place.at(number * stored_type(target.element).bytes), target.element)


def store(builder: Builder, target: Target, type: tree.Type, value: Operand) -> None:
    """Write a scalar, whose value has the type already."""
    match target:
        case LocalVariable():
            builder.write(target.key, value)
        case MemoryPlace():
            if value.type == I1:
                value = builder.emit("zext", (value,), I8)
            builder.emit_many("store", (target.address, value), (), _detail(target, 0, align_of(type)))
        case Bits():
            _store_bits(builder, target, value)
        case VectorLanes():
            (number,) = target.numbers
            store(builder, target.place.at(number * stored_type(target.element).bytes), target.element, value)


def _load_bits(builder: Builder, bits: Bits, type: tree.Type) -> Operand:
    unit = load(builder, bits.place, bits.type)
    signed = isinstance(bits.type, tree.Scalar) and bits.type.kind == "signed"
    where = (constant(I32, bits.shift), constant(I32, bits.width))
    found = builder.emit("sextract" if signed else "uextract", (unit, *where), unit.type)
    return builder.emit("ne", (found, constant(found.type, 0)), I1) if value_type(type) == I1 else found


def _store_bits(builder: Builder, bits: Bits, value: Operand) -> None:
    unit = load(builder, bits.place, bits.type)
    if value.type == I1:
        value = builder.emit("zext", (value,), unit.type)
    where = (constant(I32, bits.shift), constant(I32, bits.width))
    made = builder.emit("insert", (value, unit, *where), unit.type)
    store(builder, bits.place, bits.type, made)


def copy(builder: Builder, to: MemoryPlace, source: MemoryPlace, type: tree.Type) -> None:
    """Copy an object; all of it is read before any of it is written, as the two may be one."""
    store_pieces(builder, to, type, load_pieces(builder, source, type))


def load_pieces(builder: Builder, source: MemoryPlace, type: tree.Type) -> tuple[Operand, ...]:
    """Read all numbers of an object, as they are in memory."""
    found: list[Operand] = []
    for piece in pieces(type):
        detail = _detail(source, piece.offset, piece.type.bytes * piece.count)
        found += builder.emit_many("load", (source.address,), (piece.type,) * piece.count, detail)
    return tuple(found)


def store_pieces(builder: Builder, to: MemoryPlace, type: tree.Type, values: Sequence[Operand]) -> None:
    """Write all numbers of an object."""
    rest = iter(values)
    for piece in pieces(type):
        detail = _detail(to, piece.offset, piece.type.bytes * piece.count)
        builder.emit_many("store", (to.address, *(next(rest) for _ in range(piece.count))), (), detail)
