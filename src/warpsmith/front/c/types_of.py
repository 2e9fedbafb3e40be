"""Types of the tree from the worker's rows; array extents are filled in where a variable is declared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.front.clang import kinds
from warpsmith.front.clang.wire import Dump
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
    Space,
    Type,
)

_SPACES: Final[tuple[Space, ...]] = (
    "", "global", "shared", "constant", "private", "generic", "global", "global", "global", "constant", "shared",
)  # fmt: skip
"""clang's numbers of address spaces: OpenCL's from 1, CUDA's from 8."""

__all__ = ["Types", "decay_type", "fill_extents", "is_std_array"]


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

    def result(self, row: int) -> int:
        """Return the row of the type that a function returns; -1 for what is no function."""
        tag, inner, _, _ = self._dump.types[row]
        return inner if tag == "f" else -1

    def is_number(self, row: int, *, behind: bool = False) -> bool:
        """Whether a type is a number, an enumeration or void; `behind`: what a reference refers to."""
        if row < 0:
            return False
        tag, inner, _, _ = self._dump.types[row]
        if behind and tag == "p":
            tag, inner, _, _ = self._dump.types[inner]
        return tag in ("s", "e")

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

    def is_bare(self, tag: str) -> bool:
        """Whether objects of a class are copied as bytes, and making and ending them runs no code."""
        return any(record[0] == tag and record[7] for record in self._dump.records)

    def has_bit_fields(self, tag: str) -> bool:
        """Whether a class has members of a few bits."""
        return any(member[3] for record in self._dump.records if record[0] == tag for member in record[3])

    def hides(self, tag: str, field: str) -> bool:
        """Whether a member of a class may be named by the class's own functions only."""
        return any(record[0] == tag and field in record[9] for record in self._dump.records)

    def is_base_at_start(self, tag: str, base: str) -> bool:
        """Whether objects of a class certainly begin with those of a base class; known in device code."""
        record = next((record for record in self._dump.records if record[0] == tag), None)
        if record is None:
            return False
        for row, at_start in record[14]:
            made = self.of(row) if row >= 0 else None
            if at_start and not isinstance(made, Record):
                return record[11]  # the only one, of which no more is known
            if at_start and isinstance(made, Record) and (base == made.tag or self.is_base_at_start(made.tag, base)):
                return True
        return False

    def bases(self, tag: str) -> list[Record | None]:
        """Return the base classes of a class; None for one of which nothing is known."""
        record = next((record for record in self._dump.records if record[0] == tag), None)
        made = [self.of(row) if row >= 0 else None for row, _ in record[14]] if record is not None else []
        return [one if isinstance(one, Record) else None for one in made]

    def derives(self, tag: str, base: str) -> bool:
        """Whether one class may be a base class of another, direct or not."""
        return any(one is None or one.tag == base or self.derives(one.tag, base) for one in self.bases(tag))

    def fresh(self, tag: str) -> int:
        """Return whether an object of a class that is made from nothing gets values: 0 none, 1 those that its members
        have of their own, 2 what a constructor or a base class gives; known in device code."""
        return next((record[12] for record in self._dump.records if record[0] == tag), 0)

    def moves(self, derived: Type, base: Type) -> bool:
        """Whether an object, or a pointer to one, becomes that of a base class which may stand elsewhere than at its
        start."""
        derived = derived.to if isinstance(derived, Pointer) else derived
        base = base.to if isinstance(base, Pointer) else base
        if not isinstance(derived, Record) or not isinstance(base, Record) or derived.tag == base.tag:
            return False
        return self.derives(derived.tag, base.tag) and not self.is_base_at_start(derived.tag, base.tag)

    def base(self, tag: str) -> Record | None:
        """Return the base class that the objects of a class begin with; known in device code."""
        row = next((record[13] for record in self._dump.records if record[0] == tag), -1)
        made = self.of(row) if row >= 0 else None
        return made if isinstance(made, Record) else None

    def beginnings(self, tag: str) -> frozenset[str]:
        """Return the members of a class that have a value of their own where an object is made."""
        rows = next((record[3] for record in self._dump.records if record[0] == tag), [])
        return frozenset(name for name, _, _, _, begins in rows if begins)

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
                name, bits, kind = kinds.ARITHMETIC.get(inner) or kinds.HALVES.get(inner) or ("int", 32, "signed")
                return Scalar(name, bits, cast(ScalarKind, kind), bool(numbers[0]), bool(numbers[1]), spelling)
            case "p":
                restrict, const, reference = (bool(number) for number in numbers[:3])
                space = _SPACES[numbers[3]] if len(numbers) > 3 and numbers[3] < len(_SPACES) else ""
                return Pointer(self.of(inner), restrict, const, spelling, reference, space)
            case "a":
                return Array(self.of(inner), None, numbers[0] if numbers[0] >= 0 else None, spelling)
            case "f":
                parameters = tuple(decay_type(self.of(number)) for number in numbers[1:])
                return FunctionType(self.of(inner), parameters, bool(numbers[0]), spelling)
            case "r":
                record = self._record(inner)
                return replace(record, const=bool(numbers[0]), spelling=spelling)
            case "v":
                return _vector(self.of(inner), numbers, spelling)
            case _:
                return Opaque(spelling)

    def _record(self, row: int) -> Record:
        known = self._records.get(row)
        if known is not None:
            return known
        tag, size, union, members, file, start, end, _, _, _, alignment, *_ = self._dump.records[row]
        span = self._place(file, start, end)
        if not tag:
            tag = f"(unnamed at {span})" if span is not None else "(unnamed)"
        record = Record(tag, max(0, size), (), union, definition=span, alignment=alignment)
        if row in self._open:
            return record
        self._open.add(row)
        closure = "(lambda at " in tag
        fields = tuple(
            _field(f"captured{n}" if closure else name, self.of(type), offset, bits)
            for n, (name, type, offset, bits, _) in enumerate(members)
        )
        self._open.discard(row)
        record = replace(record, fields=() if union and self._dump.marks is None else fields)
        if not self._open:
            self._records[row] = record
        return record


def _field(name: str, type: Type, offset: int, bits: int) -> Field:
    """Return a member that begins `offset` bits into its record; a bit-field lies in a unit of its type."""
    unit = type.bits if bits and isinstance(type, Scalar) else 8
    start = offset - offset % unit
    return Field(name, type, start // 8, bits, offset - start)


def _vector(element: Type, numbers: tuple[int, ...], spelling: str) -> Record:
    """Return the record of a vector type of OpenCL."""
    lanes, size, const = numbers
    each = element.bits // 8 if isinstance(element, Scalar) else 1
    plain = replace(element, const=False) if isinstance(element, Scalar) else element
    fields = tuple(Field(f"s{lane:x}", plain, lane * each) for lane in range(lanes))
    name = element.name if isinstance(element, Scalar) else "vector"
    return Record(f"{name}{lanes}", size, fields, const=bool(const), spelling=spelling, alignment=size, lanes=lanes)


def is_std_array(type: Type) -> bool:
    """Whether an array is a std::array, which is an object."""
    return isinstance(type, Array) and type.spelling.startswith("std::array<")


def decay_type(type: Type) -> Type:
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
