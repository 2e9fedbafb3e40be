"""Types and symbols of the tree.

    Type   = Scalar(name, bits, kind)            char … long double, bool, enums as their integer type
           | Pointer(to, restrict, reference)     a C++ reference is a pointer that is marked (see below)
           | Array(of, extent)                   extent: Expr (constant or not), or None where it is not written
           | Record(tag, fields, kind)           struct; fields empty where it is opaque; a union is opaque, but in
                                                 device code; a vector type of OpenCL has `lanes`
           | FunctionType(result, parameters, variadic)
           | Opaque(text)                        anything we do not model
    `spelling` is how the user wrote the type (a typedef's name); "" where it was not written.

A reference `T &x` of C++ is a `Pointer(T, reference=True)`, and each use of x is `*x`: so nothing that reasons about
pointers can take it for a copy. Only printing knows the difference: an expression of such a type under a `*` prints as
its own text (`x`), and alone as an address (`(&x)`).

Types compare by structure (without `spelling`), but for array extents, which are expressions and compare by identity:
use `same_type` to compare those too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from warpsmith.base.source import Span

if TYPE_CHECKING:
    from warpsmith.tree.nodes import Expr

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
    "Space",
    "Storage",
    "Symbol",
    "Type",
    "common_type",
    "element_type",
    "integer_range",
    "is_float",
    "is_integer",
    "lengths",
    "padding_of",
    "promoted",
]

ScalarKind = Literal["signed", "unsigned", "bool", "float", "complex", "void"]
Storage = Literal["local", "static local", "parameter", "global", "static", "function", "enumerator", "device"]
Space = Literal["", "global", "shared", "dynamic", "constant", "managed", "private", "generic"]
"""Where device code keeps a variable, or what a pointer points into: "" says nothing (a variable: private to its
thread); `dynamic` is shared memory whose size the launch gives."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """An arithmetic type or void; `bits` is its size on the target (LP64), `name` its canonical C name."""

    name: str
    bits: int
    kind: ScalarKind
    const: bool = field(default=False, compare=False)
    volatile: bool = False
    spelling: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Pointer:
    """A pointer; `space`: the memory that it points into, where the type says it (OpenCL)."""

    to: Type
    restrict: bool = field(default=False, compare=False)
    const: bool = field(default=False, compare=False)
    spelling: str = field(default="", compare=False)
    reference: bool = field(default=False, compare=False)
    space: Space = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Array:
    """An array; `extent` is its element count as written, `count` its value where it is a constant."""

    of: Type
    extent: Expr | None = field(compare=False)
    count: int | None = None
    spelling: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Field:
    """A member of a record; `offset` in bytes from its start. A bit-field has `bits` bits, from bit `shift` on of the
    unit of its type that lies there."""

    name: str
    type: Type
    offset: int
    bits: int = 0
    shift: int = 0


@dataclass(frozen=True, slots=True)
class Record:
    """A struct by its tag; `bytes` is its size (0 where opaque), `definition` where it is written.

    A record's fields do not take part in comparison, so a type that points to itself is no trouble. Known in device
    code: `alignment` in bytes (0: not known), and of a vector type of OpenCL its `lanes`, the fields s0, s1, …
    """

    tag: str
    bytes: int
    fields: tuple[Field, ...] = field(default=(), compare=False)
    union: bool = False
    const: bool = field(default=False, compare=False)
    spelling: str = field(default="", compare=False)
    definition: Span | None = field(default=None, compare=False)
    alignment: int = field(default=0, compare=False)
    lanes: int = 0


@dataclass(frozen=True, slots=True)
class FunctionType:
    """The type of a function; `method`: its first parameter is the pointer `this`, which C++ does not write."""

    result: Type
    parameters: tuple[Type, ...]
    variadic: bool = False
    spelling: str = field(default="", compare=False)
    method: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Opaque:
    """A type that we do not model, as text."""

    text: str
    spelling: str = field(default="", compare=False)


Type = Scalar | Pointer | Array | Record | FunctionType | Opaque


@dataclass(frozen=True, slots=True)
class Symbol:
    """One declared thing. Two names are the same variable exactly when their symbols are equal.

    `key` is unique in the program: the linkage name of an external, else `file:offset:name` of the declaration.
    `value` is an enumerator's value. `label` is what people call a function where its name does not tell it from others
    (a method, an overload, what a template made), and a variable that a step made for one of theirs; "" where it does.
    `space` and `alignment` (bytes; 0: that of its
    type) are known in device code.
    """

    name: str
    key: str
    type: Type = field(compare=False)
    storage: Storage = field(compare=False)
    span: Span | None = field(default=None, compare=False)
    value: int | None = field(default=None, compare=False)
    label: str = field(default="", compare=False)
    space: Space = field(default="", compare=False)
    alignment: int = field(default=0, compare=False)


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


def promoted(type: Type) -> Type:
    """Return the type after integer promotion (C17 6.3.1.1)."""
    if isinstance(type, Scalar) and (type.kind == "bool" or (is_integer(type) and type.bits < INT.bits)):
        return INT
    return type


def common_type(left: Type, right: Type) -> Type:
    """Return the type of the usual arithmetic conversions (C17 6.3.1.8); a pointer operand wins over an integer."""
    a, b = promoted(left), promoted(right)
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
    for offset, length in _used(type, 0):
        used[offset : offset + length] = [True] * min(length, type.bytes - offset)
    starts = [at for at in range(type.bytes) if not used[at] and (at == 0 or used[at - 1])]
    ends = [at + 1 for at in range(type.bytes) if not used[at] and (at + 1 == type.bytes or used[at + 1])]
    return tuple((start, end - start) for start, end in zip(starts, ends, strict=True))


def _used(type: Type, offset: int) -> Iterator[tuple[int, int]]:
    match type:
        case Record(union=False) if type.fields:
            for part in type.fields:
                yield from _used(part.type, offset + part.offset)
        case Record():
            yield offset, type.bytes
        case Array() if type.count is not None and (size := _bytes(type.of)):
            for index in range(type.count):
                yield from _used(type.of, offset + index * size)
        case Array() | FunctionType() | Opaque() | Pointer() | Scalar():
            yield offset, _bytes(type)


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
