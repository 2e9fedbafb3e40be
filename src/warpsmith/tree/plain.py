"""Symbols and types as plain lists of texts and numbers: what one process tells another, and a cache on disk.

    double *a   ["a", "a", "global", ["p", ["s", "double", 64, "float", false, false], false, false]]

What goes over is what effects are judged by: extents of arrays that are no constants, members of structs and places in
the text stay behind. `decode` raises ValueError where a list is none of ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never, cast

from warpsmith.tree.types import (
    Array,
    FunctionType,
    Opaque,
    Pointer,
    Record,
    Scalar,
    ScalarKind,
    Storage,
    Symbol,
    Type,
)

__all__ = ["Plain", "decode_symbol", "decode_type", "encode_symbol", "encode_type"]

Plain = str | int | float | bool | None | Sequence["Plain"] | Mapping[str, "Plain"]


def encode_symbol(symbol: Symbol) -> list[Plain]:
    """Return a symbol as a list."""
    return [symbol.name, symbol.key, symbol.storage, encode_type(symbol.type)]


def decode_symbol(plain: Plain) -> Symbol:
    """Return the symbol of a list."""
    name, key, storage, type = _items(plain, 4)
    return Symbol(str(name), str(key), decode_type(type), cast(Storage, str(storage)))


def encode_type(type: Type) -> list[Plain]:
    """Return a type as a list."""
    match type:
        case Scalar():
            return ["s", type.name, type.bits, type.kind, type.const, type.volatile]
        case Pointer():
            return ["p", encode_type(type.to), type.restrict, type.const]
        case Array():
            return ["a", encode_type(type.of), type.count]
        case Record():
            return ["r", type.tag, type.bytes, type.union, type.const]
        case FunctionType():
            return ["f", encode_type(type.result), [encode_type(p) for p in type.parameters], type.variadic]
        case Opaque():
            return ["o", type.text]
        case _:
            assert_never(type)


def decode_type(plain: Plain) -> Type:
    """Return the type of a list."""
    if not isinstance(plain, list) or not plain:
        raise ValueError("not a type")
    match plain:
        case ["s", str(name), int(bits), str(kind), bool(const), bool(volatile)]:
            return Scalar(name, bits, cast(ScalarKind, kind), const, volatile)
        case ["p", to, bool(restrict), bool(const)]:
            return Pointer(decode_type(to), restrict, const)
        case ["a", of, (int() | None) as count]:
            return Array(decode_type(of), None, count)
        case ["r", str(tag), int(size), bool(union), bool(const)]:
            return Record(tag, size, (), union, const)
        case ["f", result, list(parameters), bool(variadic)]:
            return FunctionType(decode_type(result), tuple(decode_type(p) for p in parameters), variadic)
        case ["o", str(text)]:
            return Opaque(text)
        case _:
            raise ValueError("not a type")


def _items(plain: Plain, count: int) -> list[Plain]:
    if not isinstance(plain, list) or len(plain) != count:
        raise ValueError("not a list of ours")
    return plain
