"""`new` and `delete` of objects whose making and end touch nothing else, as calls that give and take memory.

    new double[n]        new[](n, sizeof(double))        tree/free_store.py has the names
    new Vec3[n]          new[]()(n, sizeof(Vec3))        a class of numbers whose constructors set its members only
    delete[] p           delete[](p)
    new (place) T        opaque: it gives no memory of its own
    new Particle[n]      opaque where making a Particle runs more than that

Invariant: what stands in place of a `new` gives memory of its own and evaluates the same operands.
"""

from __future__ import annotations

import re
from typing import Final

from warpsmith.base.source import Span
from warpsmith.front.c.builders import ExpressionBuilder
from warpsmith.front.clang import kinds
from warpsmith.front.cxx.classes.values import is_numbers, makes_numbers
from warpsmith.front.cxx.objects import before, is_pure
from warpsmith.tree.nodes import Call, Cast, Expr, MacroUse, Name, SizeOf
from warpsmith.tree.printing.printer import print_type
from warpsmith.tree.types import (
    SIZE_T,
    VOID,
    Array,
    FunctionType,
    Pointer,
    Record,
    Scalar,
    Symbol,
    Type,
    byte_size,
)

__all__ = ["CxxMemory"]

_NEW: Final = re.compile(r"(?:::\s*)?new\b(?!\s*\()")
_DELETE: Final = re.compile(r"(?:::\s*)?delete\s*(\[\s*\])?")
_OWN: Final = re.compile(r"\boperator\s*(?:new|delete)\b")


class CxxMemory:
    """Builds the `new` and `delete` expressions of one file of a C++ unit."""

    def __init__(self, expressions: ExpressionBuilder) -> None:
        self.expressions = expressions
        self.table = expressions.table

    def make(self, row: int, span: Span) -> Expr:
        """Return a `new` expression."""
        made = self._make(row, span) if self.expressions.own else None
        return made or self.expressions.make_opaque(row, "new")

    def _make(self, row: int, span: Span) -> Expr | None:
        type = self.expressions.context.types.of(self.table.type[row])
        if not isinstance(type, Pointer) or type.reference:
            return None
        if not self._is_made_of_nothing(row, type.to) and not self._makes_itself(type.to):
            return None
        text = span.text
        head, bracket, _ = re.split(r"[({]", text, maxsplit=1)[0].partition("[")
        if not _NEW.match(text) or "decltype" in head:
            return None
        rows = sorted(
            (r for r in self.table.expressions(row) if self.table.kind[r] != kinds.CALL and self._is_written(r)),
            key=lambda r: self.table.start[r],
        )
        if not bracket:
            return self._allocate(span, type, None, rows)
        if not rows:
            return None
        levels = _count_levels(type.to)
        return self._allocate(span, type, rows[0], rows[1 + levels :])

    def _is_written(self, row: int) -> bool:
        return self.table.end[row] > self.table.start[row]

    def _allocate(self, span: Span, type: Pointer, count: int | None, rows: list[int]) -> Expr | None:
        """Return the call for `count` objects (None: `new` of one), with the rows of what they are made from."""
        size = byte_size(type.to)
        values = self._values(rows)
        if size is None or values is None:
            return None
        place = before(span)
        several = "[]" if count is not None else ""
        first = self._makes_itself(type.to) or span.text.rstrip().endswith((")", "}"))
        name = f"new{several}{'()' if first else ''}"
        number: Expr = SizeOf(span=place, type=SIZE_T, text="1", value=1)
        if count is not None:
            number = self.expressions.build(count)
            if not isinstance(number.type, Scalar) or not is_pure(number):
                return None
        if not all(is_pure(value) for value in values):
            return None
        unit = SizeOf(span=place, type=SIZE_T, text=f"sizeof({print_type(type.to)})", value=size)
        return _call(name, span, type, (Cast(span=place, type=SIZE_T, operand=number), unit, *values))

    def _values(self, rows: list[int]) -> list[Expr] | None:
        """Return the values that an initializer has; None where it is none of plain values."""
        if len(rows) == 1 and self.table.kind[rows[0]] == kinds.INIT_LIST:
            rows = [r for r in self.table.expressions(rows[0]) if self._is_written(r)]
        made = [self.expressions.build(row) for row in rows]
        return made if all(isinstance(one.type, Scalar | Pointer) for one in made) else None

    def _is_made_of_nothing(self, row: int, type: Type) -> bool:
        """Whether objects of a type are numbers and pointers, and making them runs no code and sets nothing."""
        if isinstance(type, Array):
            return self._is_made_of_nothing(row, type.of)
        if isinstance(type, Scalar):
            return not type.volatile and type.kind != "void"
        if isinstance(type, Pointer):
            return not type.reference
        return isinstance(type, Record) and self._is_bare(type)

    def _is_bare(self, record: Record) -> bool:
        types = self.expressions.context.types
        plain = types.is_bare(record.tag) and not record.union and bool(record.fields)
        return plain and _takes_common_memory(record)

    def _makes_itself(self, type: Type) -> bool:
        """Whether objects of a class are numbers that its constructors set, and do nothing else."""
        if not isinstance(type, Record) or self._is_bare(type) or not _takes_common_memory(type):
            return False
        return makes_numbers(self.expressions.context, type)

    def delete(self, row: int, span: Span) -> Expr:
        """Return a `delete` expression."""
        found, rows = _DELETE.match(span.text), self.table.expressions(row)
        if self.expressions.own and found is not None and len(rows) == 1:
            pointer = self.expressions.build(rows[0])
            if isinstance(pointer.type, Pointer) and self._ends_silently(pointer.type.to) and is_pure(pointer):
                return _call("delete[]" if found[1] else "delete", span, VOID, (pointer,))
        return self.expressions.make_opaque(row, "delete")

    def _ends_silently(self, type: Type) -> bool:
        """Whether the end of an object of a type runs no code."""
        if isinstance(type, Array):
            return self._ends_silently(type.of)
        if isinstance(type, Record):
            alone = is_numbers(self.expressions.context, type) and _takes_common_memory(type)
            return alone or self._is_bare(type)
        return isinstance(type, Scalar | Pointer) and type != VOID


def _takes_common_memory(record: Record) -> bool:
    """Whether a class has no `new` and `delete` of its own."""
    return record.definition is not None and not _OWN.search(record.definition.text)


def _count_levels(type: Type) -> int:
    return 1 + _count_levels(type.of) if isinstance(type, Array) else 0


def _call(name: str, span: Span, type: Type, arguments: tuple[Expr, ...]) -> Expr:
    signature = FunctionType(type, tuple(a.type for a in arguments))
    function = Name(span=before(span), type=signature, symbol=Symbol(name, name, signature, "function"))
    call = Call(span=before(span), type=type, function=function, arguments=arguments)
    return MacroUse(span=span, intact=True, type=type, name="", expansion=call)
