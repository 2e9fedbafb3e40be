"""Types of the tree from the worker's rows; array extents are filled in where a variable is declared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from warpsmith.base.source import Span
from warpsmith.front import kinds
from warpsmith.front.wire import Dump
from warpsmith.tree.nodes import Expr
from warpsmith.tree.types import (
    Array,
    Field,
    FunctionType,
    Opaque,
    Pointer,
    Record,
    Scalar,
    ScalarKind,
    Type,
)

__all__ = ["Types", "decayed", "fill_extents", "is_std_array"]


class Types:
    """The types of one dump; `place` gives the span of (file, start, end), None outside the user's files."""

    def __init__(self, dump: Dump, place: Callable[[int, int, int], Span | None]) -> None:
        self._dump = dump
        self._place = place
        self._types: dict[int, Type] = {}
        self._records: dict[int, Record] = {}
        self._open: set[int] = set()

    def of(self, row: int) -> Type:
        """Return the type of a row."""
        known = self._types.get(row)
        if known is None:
            known = self._make(row)
            # Inside a record that points to itself the inner copy is opaque: only the complete one is kept.
            if not self._open:
                self._types[row] = known
        return known

    def is_reference(self, row: int) -> bool:
        """Whether a type is a reference of C++."""
        tag, _, numbers, _ = self._dump.types[row]
        return tag == "p" and bool(numbers[2])

    def parameters(self, row: int) -> tuple[int, ...]:
        """Return the rows of the types of a function's parameters."""
        tag, _, numbers, _ = self._dump.types[row]
        return tuple(numbers[1:]) if tag == "f" else ()

    def is_plain(self, row: int) -> bool:
        """Whether objects of a type are copied as bytes, as those of C are."""
        tag, inner, _, _ = self._dump.types[row]
        while tag == "a":
            tag, inner, _, _ = self._dump.types[inner]
        return tag != "r" or self._dump.records[inner][7]

    def hides(self, tag: str, field: str) -> bool:
        """Whether a member of a class may be named by the class's own functions only."""
        return any(record[0] == tag and field in record[9] for record in self._dump.records)

    def ends(self, row: int) -> bool:
        """Whether the end of an object of a type runs code of the user's."""
        tag, inner, _, _ = self._dump.types[row]
        while tag == "a":
            tag, inner, _, _ = self._dump.types[inner]
        return tag == "r" and self._dump.records[inner][8]

    def extents(self, row: int) -> list[bool]:
        """Return the array levels that a declarator writes itself, outermost first: does each have an extent?"""
        levels: list[bool] = []
        tag, inner, numbers, spelling = self._dump.types[row]
        while tag in ("a", "p") and not spelling:
            if tag == "a":
                levels.append(numbers[0] != -1)
            tag, inner, numbers, spelling = self._dump.types[inner]
        return levels

    def _make(self, row: int) -> Type:
        tag, inner, numbers, spelling = self._dump.types[row]
        match tag:
            case "s" | "e":
                name, bits, kind = kinds.ARITHMETIC.get(inner, ("int", 32, "signed"))
                return Scalar(name, bits, cast(ScalarKind, kind), bool(numbers[0]), bool(numbers[1]), spelling)
            case "p":
                return Pointer(self.of(inner), bool(numbers[0]), bool(numbers[1]), spelling, bool(numbers[2]))
            case "a":
                return Array(self.of(inner), None, numbers[0] if numbers[0] >= 0 else None, spelling)
            case "f":
                parameters = tuple(decayed(self.of(number)) for number in numbers[1:])
                return FunctionType(self.of(inner), parameters, bool(numbers[0]), spelling)
            case "r":
                record = self._record(inner)
                return replace(record, const=bool(numbers[0]), spelling=spelling)
            case _:
                return Opaque(spelling)

    def _record(self, row: int) -> Record:
        known = self._records.get(row)
        if known is not None:
            return known
        tag, size, union, members, file, start, end, *_ = self._dump.records[row]
        span = self._place(file, start, end)
        if not tag:
            tag = f"(unnamed at {span})" if span is not None else "(unnamed)"
        record = Record(tag, max(0, size), (), union, definition=span)
        if row in self._open:
            return record
        self._open.add(row)
        fields = tuple(Field(name, self.of(type), offset // 8) for name, type, offset, _ in members)
        self._open.discard(row)
        record = replace(record, fields=() if union else fields)
        if not self._open:
            self._records[row] = record
        return record


def is_std_array(type: Type) -> bool:
    """Whether an array is a std::array, which is an object."""
    return isinstance(type, Array) and type.spelling.startswith("std::array<")


def decayed(type: Type) -> Type:
    """Return what an array or function parameter really is: a pointer."""
    if isinstance(type, Array) and is_std_array(type):
        return Opaque(type.spelling)  # handed over by value
    if isinstance(type, Array):
        return Pointer(type.of, spelling=type.spelling)
    return Pointer(type) if isinstance(type, FunctionType) else type


def fill_extents(type: Type, extents: list[Expr | None]) -> Type:
    """Return `type` with its array extents, `extents` listed outermost first; a None stands for one not written."""
    match type:
        case Array(of=of) if extents:
            return replace(type, extent=extents[0], of=fill_extents(of, extents[1:]))
        case Pointer(to=to) if extents:
            return replace(type, to=fill_extents(to, extents))
        case _:
            return type
