"""How C's types lie in memory, and which of them are one value of the IR (LP64, as on the device).

value_type     what a scalar is in a register: `_Bool` is a predicate, an address 64 bits
stored_type    what it is in memory: `_Bool` is a byte
pieces         the accesses by which an object is copied: one for each scalar in it, and one for equal scalars side by
               side, as far as the object is aligned (float4, alignas(16) float[4]), as the hardware moves it
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.ssa.types import BF16, F16, F32, F64, I1, I8, I64, TYPES, Type
from warpsmith.tree import types as tree

__all__ = [
    "MOST_PIECES",
    "NotModeled",
    "ScalarPiece",
    "align_of",
    "is_object",
    "lanes_of",
    "leaf",
    "member_at",
    "pieces",
    "size_of",
    "stored_type",
    "value_type",
]

_WIDEST: Final = 16
"""Bytes of one access at most."""
MOST_PIECES = 512
"""An object of more scalars than this is not copied piece by piece: nothing that a thread holds is that large."""


class NotModeled(Exception):
    """What the IR has no words for: `reason` in the user's words, `span` where it stands (None: where we are)."""

    def __init__(self, reason: str, span: Span | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.span = span


class ScalarPiece(Struct, frozen=True):
    """`count` scalars of `type` at `offset`, moved by one access; `leaf` is their type in the tree."""

    offset: int
    type: Type
    count: int
    leaf: tree.Type


def lanes_of(type: tree.Type) -> int:
    """Return how many lanes a vector type of OpenCL has; 0 for any other type."""
    return type.lanes if isinstance(type, tree.Record) else 0


def is_object(type: tree.Type) -> bool:
    """Whether a value of the type is more than one number: it lives in memory."""
    return isinstance(type, tree.Record | tree.Array)


_FLOATS = {"__bf16": BF16, "float": F32, "double": F64, "half": F16, "_Float16": F16, "__fp16": F16, "__half": F16}


def value_type(type: tree.Type) -> Type:
    """Return the type of a scalar in a register; raises NotModeled."""
    match type:
        case tree.Scalar(kind="bool"):
            return I1
        case tree.Scalar(kind="float"):
            found = _FLOATS.get(type.name) or {16: F16, 32: F32, 64: F64}.get(type.bits)
            if found is not None:
                return found
        case tree.Scalar(kind="signed" | "unsigned"):
            if f"i{type.bits}" in TYPES:
                return TYPES[f"i{type.bits}"]
        case tree.Pointer() | tree.FunctionType():
            return I64
        case tree.Opaque() if _is_handle(type):
            return I64
        case _:
            pass
    raise NotModeled(f"a value of type {_describe_type(type)}")


_HANDLE: Final = re.compile(r"(?:__?\w+ )*(?:image\w+_t|sampler_t)$")


def _is_handle(type: tree.Opaque) -> bool:
    """Whether a type of OpenCL stands for an image or a sampler: a number that says which."""
    return _HANDLE.match(type.text) is not None


def stored_type(type: tree.Type) -> Type:
    """Return the type of a scalar in memory; raises NotModeled."""
    found = value_type(type)
    return I8 if found == I1 else found


def size_of(type: tree.Type) -> int:
    """Return the bytes of an object; raises NotModeled where that is not known."""
    match type:
        case tree.Record() if type.bytes:
            return type.bytes
        case tree.Record() if not type.fields:
            return 1
        case tree.Array() if type.count is not None:
            return type.count * size_of(type.of)
        case tree.Scalar(kind="void"):
            return 1
        case tree.Scalar() | tree.Pointer() | tree.Opaque():
            return stored_type(type).bytes
        case _:
            raise NotModeled(f"the size of {_describe_type(type)}")


def align_of(type: tree.Type) -> int:
    """Return the alignment of an object."""
    match type:
        case tree.Record():
            return type.alignment or max((align_of(field.type) for field in type.fields), default=1)
        case tree.Array():
            return align_of(type.of)
        case tree.Scalar(kind="void"):
            return 1
        case tree.Scalar() | tree.Pointer():
            return stored_type(type).bytes
        case _:
            return 1


def leaf(type: tree.Type) -> tree.Type:
    """Return the type of the innermost element of an array."""
    while isinstance(type, tree.Array):
        type = type.of
    return type


def member_at(type: tree.Type, offset: int) -> str:
    """Return how the source writes the scalar that begins at a byte of an object: `.grid.x`, `.row[3]`."""
    match type:
        case tree.Record(union=False):
            inside = (f for f in type.fields if f.offset >= 0 and f.offset <= offset < f.offset + size_of(f.type))
            found = next(inside, None)
            if found is None:
                return ""
            name = f".{found.name}" if found.name else ""
            return name + member_at(found.type, offset - found.offset)
        case tree.Array() if size := size_of(type.of):
            return f"[{offset // size}]" + member_at(type.of, offset % size)
        case _:
            return ""


def pieces(type: tree.Type) -> tuple[ScalarPiece, ...]:
    """Return the accesses that copy an object, in order; raises NotModeled."""
    found: list[ScalarPiece] = []
    for piece in _pieces(type, 0):
        found.append(piece)
        if len(found) > MOST_PIECES:
            raise NotModeled(f"a copy of {_describe_type(type)}, which has more than {MOST_PIECES} numbers")
    return tuple(_join_aligned(found, align_of(type)))


def _join_aligned(found: Sequence[ScalarPiece], align: int) -> Iterator[ScalarPiece]:
    """Yield accesses with those of equal scalars that lie side by side made one, as far as the object is aligned."""
    at = 0
    while at < len(found):
        first = found[at]
        count = _count_alike(found[at : at + _WIDEST // first.type.bytes])
        width = next(w for w in (16, 8, 4, 2, 1) if w <= count and _fits(first, w, align))
        yield replace(first, count=first.count * width) if width > 1 else first
        at += width


def _count_alike(found: Sequence[ScalarPiece]) -> int:
    """Return how many single scalars of the same type lie side by side at the start."""
    first = found[0]
    alike = (
        piece.count == 1 and piece.leaf == first.leaf and piece.offset == first.offset + number * first.type.bytes
        for number, piece in enumerate(found)
    )  # fmt: skip
    return max(1, sum(1 for _ in takewhile(bool, alike)))


def _fits(piece: ScalarPiece, width: int, align: int) -> bool:
    """Whether the hardware moves so many scalars at once."""
    bytes_ = width * piece.type.bytes
    return width == 1 or (bytes_ <= _WIDEST and align % bytes_ == 0 and piece.offset % bytes_ == 0)


def _pieces(type: tree.Type, offset: int) -> Iterator[ScalarPiece]:
    match type:
        case tree.Record() if type.lanes or _is_one_access(type):
            element = _alone(type.fields[0].type)
            count = type.lanes or len(type.fields)
            yield from _vector(stored_type(element), count, (offset, align_of(type)), element)
        case tree.Record(union=True):
            yield from _words(type, offset)
        case tree.Record():
            units: set[int] = set()
            for field in type.fields:
                if field.offset >= 0 and not (field.bits and field.offset in units):
                    yield from _pieces(field.type, offset + field.offset)
                units |= {field.offset} if field.bits else set()
        case tree.Array():
            size = size_of(type.of)
            for number in range(type.count or 0):
                yield from _pieces(type.of, offset + number * size)
        case _:
            yield ScalarPiece(offset, stored_type(type), 1, type)


def _is_one_access(type: tree.Record) -> bool:
    """Whether the hardware moves a struct at once: two or four equal scalars, aligned to their size, 16 bytes."""
    kinds = {_alone(field.type) for field in type.fields}
    if type.union or len(kinds) != 1 or len(type.fields) not in (2, 4) or type.bytes > 16:
        return False
    (kind,) = kinds
    return isinstance(kind, tree.Scalar) and align_of(type) == type.bytes == stored_type(kind).bytes * len(type.fields)


def _alone(type: tree.Type) -> tree.Type:
    """Return the only member of a struct that has one, of that too; any other type as it is."""
    while isinstance(type, tree.Record) and not type.lanes and len(type.fields) == 1 and not type.fields[0].bits:
        type = type.fields[0].type
    return type


def _vector(type: Type, count: int, place: tuple[int, int], element: tree.Type) -> Iterator[ScalarPiece]:
    """Yield the accesses of a vector: 16 bytes and 4 elements at most, aligned to their size; `place`: its offset, and
    how it is aligned."""
    at, (offset, align) = 0, place
    most = max(type.bytes, min(_WIDEST, align))
    while at < count:
        width = next(w for w in (4, 2, 1) if w <= count - at and at % w == 0 and w * type.bytes <= most)
        yield ScalarPiece(offset + at * type.bytes, type, width, element)
        at += width


def _words(type: tree.Record, offset: int) -> Iterator[ScalarPiece]:
    """Yield the accesses of a union: those of the member that fills it with the fewest, else words."""
    covers = [pieces(f.type) for f in type.fields if size_of(f.type) == type.bytes and not _has_padding(f.type)]
    if covers:
        best = min(covers, key=len)
        yield from (ScalarPiece(offset + p.offset, p.type, p.count, p.leaf) for p in best)
        return
    word = min(align_of(type), 8)
    unsigned = tree.Scalar(f"{8 * word} bits", 8 * word, "unsigned")
    yield from (ScalarPiece(offset + at, TYPES[f"i{8 * word}"], 1, unsigned) for at in range(0, type.bytes, word))


def _has_padding(type: tree.Type) -> bool:
    return sum(piece.type.bytes * piece.count for piece in pieces(type)) != size_of(type)


def _describe_type(type: tree.Type) -> str:
    match type:
        case tree.Scalar():
            return type.spelling or type.name
        case tree.Record():
            return type.spelling or type.tag
        case tree.Opaque():
            return type.text
        case tree.Array():
            return f"an array of {_describe_type(type.of)}" + ("" if type.count is not None else " of variable length")
        case _:
            return type.spelling or "this type"
