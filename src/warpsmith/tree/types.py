"""Computations on types (their grammar heads `expressions.py`): integer ranges, the conversions of C, padding."""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.tree.expressions import (
    Array,
    Expr,
    Field,
    FunctionType,
    Opaque,
    Pointer,
    Record,
    Scalar,
    ScalarKind,
    Space,
    Storage,
    Symbol,
    Type,
)

__all__ = [
    "BOOL",
    "CHAR",
    "DOUBLE",
    "FLOAT",
    "INT",
    "LONG",
    "LONG_LONG",
    "SIZE_T",
    "UNSIGNED",
    "UNSIGNED_LONG",
    "VOID",
    "Array",
    "Field",
    "FunctionType",
    "Opaque",
    "Pointer",
    "Record",
    "Scalar",
    "ScalarKind",
    "Space",
    "Storage",
    "Symbol",
    "Type",
    "byte_size",
    "common_type",
    "element_type",
    "integer_range",
    "is_float",
    "is_integer",
    "lengths",
    "padding_of",
    "promote",
]

VOID = Scalar("void", 0, "void")
BOOL = Scalar("_Bool", 8, "bool")
CHAR = Scalar("char", 8, "signed")
INT = Scalar("int", 32, "signed")
UNSIGNED = Scalar("unsigned int", 32, "unsigned")
LONG = Scalar("long", 64, "signed")
LONG_LONG = Scalar("long long", 64, "signed")
UNSIGNED_LONG = Scalar("unsigned long", 64, "unsigned")
SIZE_T = Scalar("unsigned long", 64, "unsigned", spelling="size_t")
FLOAT = Scalar("float", 32, "float")
DOUBLE = Scalar("double", 64, "float")

_RANK = {"long long": 3, "unsigned long long": 3, "long": 2, "unsigned long": 2}
_UNSIGNED_OF = {"int": UNSIGNED, "long": UNSIGNED_LONG, "long long": Scalar("unsigned long long", 64, "unsigned")}


def is_integer(type: Type) -> bool:
    """Whether `type` is an integer type (bool and enums included)."""
    return isinstance(type, Scalar) and type.kind in ("signed", "unsigned", "bool")


def is_float(type: Type) -> bool:
    """Whether `type` is a real floating type."""
    return isinstance(type, Scalar) and type.kind == "float"


def integer_range(type: Scalar) -> tuple[int, int]:
    """Return the least and greatest value of an integer type."""
    if type.kind == "bool":
        return 0, 1
    if type.kind == "unsigned":
        return 0, 2**type.bits - 1
    return -(2 ** (type.bits - 1)), 2 ** (type.bits - 1) - 1


def promote(type: Type) -> Type:
    """Return the type after integer promotion (C17 6.3.1.1)."""
    if isinstance(type, Scalar) and (type.kind == "bool" or (is_integer(type) and type.bits < INT.bits)):
        return INT
    return type


def common_type(left: Type, right: Type) -> Type:
    """Return the type of the usual arithmetic conversions (C17 6.3.1.8); a pointer operand wins over an integer."""
    a, b = promote(left), promote(right)
    if not isinstance(a, Scalar):
        return a
    if not isinstance(b, Scalar):
        return b
    if a.kind == "complex" or b.kind == "complex":
        return a if a.kind == "complex" and (b.kind != "complex" or a.bits >= b.bits) else b
    if is_float(a) or is_float(b):
        return a if is_float(a) and (not is_float(b) or a.bits >= b.bits) else b
    return _common_integer(a, b)


def _common_integer(a: Scalar, b: Scalar) -> Scalar:
    high, low = (a, b) if _RANK.get(a.name, 1) >= _RANK.get(b.name, 1) else (b, a)
    if high.kind == low.kind or high.kind == "unsigned":
        return high
    if _RANK.get(high.name, 1) == _RANK.get(low.name, 1):
        return low
    return high if high.bits > low.bits else _UNSIGNED_OF[high.name]


def padding_of(type: Type) -> tuple[tuple[int, int], ...]:
    """Return the runs of bytes (offset, length) of a struct that belong to no member: copies need not keep them."""
    if not isinstance(type, Record) or not type.fields:
        return ()
    used = [False] * type.bytes
    for offset, length in _find_used(type, 0):
        used[offset : offset + length] = [True] * min(length, type.bytes - offset)
    starts = [at for at in range(type.bytes) if not used[at] and (at == 0 or used[at - 1])]
    ends = [at + 1 for at in range(type.bytes) if not used[at] and (at + 1 == type.bytes or used[at + 1])]
    return tuple((start, end - start) for start, end in zip(starts, ends, strict=True))


def _find_used(type: Type, offset: int) -> Iterator[tuple[int, int]]:
    match type:
        case Record(union=False) if type.fields:
            for part in type.fields:
                yield from _find_used(part.type, offset + part.offset)
        case Record():
            yield offset, type.bytes
        case Array() if type.count is not None and (size := _bytes(type.of)):
            for index in range(type.count):
                yield from _find_used(type.of, offset + index * size)
        case Array() | FunctionType() | Opaque() | Pointer() | Scalar():
            yield offset, _bytes(type)


def byte_size(type: Type) -> int | None:
    """Return the size of a type in bytes, None where it is not a known constant."""
    match type:
        case Scalar(bits=bits):
            return bits // 8 or None
        case Pointer():
            return 8
        case Record(bytes=size):
            return size or None
        case Array(of=inner, count=count):
            one = byte_size(inner)
            return None if one is None or count is None else one * count
        case FunctionType() | Opaque():
            return None


def lengths(type: Type) -> Iterator[Expr]:
    """Yield the element counts that a type has in its text, outermost first: naming the type evaluates those that are
    not constant."""
    while isinstance(type, Array | Pointer):
        if isinstance(type, Array):
            if type.extent is not None:
                yield type.extent
            type = type.of
        else:
            type = type.to


def _bytes(type: Type) -> int:
    match type:
        case Scalar():
            return max(1, type.bits // 8)
        case Pointer():
            return 8
        case Record():
            return type.bytes
        case Array():
            return (type.count or 0) * _bytes(type.of)
        case FunctionType() | Opaque():
            return 1


def element_type(type: Type) -> Type:
    """Return the type of the innermost element of an array, or what a pointer points to; of `T *a[3]` that is `T *`."""
    type = type.to if isinstance(type, Pointer) else type
    while isinstance(type, Array):
        type = type.of
    return type
