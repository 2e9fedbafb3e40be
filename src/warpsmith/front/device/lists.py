"""Initializer lists as the aggregate that they make: every item stands for one member or element.

float m[2][2] = {1, 2, 3, 4}        {{1, 2}, {3, 4}}        braces that may be left out
struct { int a, b; } = {.b = 1}     {0, 1}                  designators
(float4)(v.xy, 0, 1)                items of a vector are put together
"""

from __future__ import annotations

from typing import Final

from warpsmith.base.source import Span
from warpsmith.front.clang import kinds
from warpsmith.front.device.builders import DeviceExpressionBuilder
from warpsmith.front.device.defaults import has_made_base, is_made, member_values, value_from_nothing
from warpsmith.tree.nodes import Expr, InitList, Literal
from warpsmith.tree.types import INT, Array, Record, Scalar, Type

__all__ = ["build_list"]

_MOST_ITEMS: Final = 65_536


def build_list(expressions: DeviceExpressionBuilder, row: int, span: Span) -> Expr:
    """Return the aggregate that a list makes, or opaque code where its form is not known."""
    type, parts = expressions.type_of(row), expressions.table.expressions(row)
    if isinstance(type, Scalar) and len(parts) == 1:
        return expressions.build(parts[0])
    if isinstance(type, Record) and type.lanes:
        return InitList(span=span, type=type, items=tuple(expressions.build(part) for part in parts))
    places = _places(type)
    if places is None:
        return expressions.make_opaque(row, "a list that makes an object of an unusual kind")
    if len(parts) == 1 and places and _is_string(expressions, parts[0]) and _is_characters(type):
        return expressions.build(parts[0])
    if isinstance(type, Record) and has_made_base(expressions.context, type):
        if parts:
            return expressions.make_opaque(row, "a list for a class whose base class has a constructor")
        return value_from_nothing(expressions, type, span)
    filler = _Filler(expressions, parts)
    made = filler.fill(type, places, span)
    return made if made is not None else expressions.make_opaque(row, "a designated initializer")


def _is_string(expressions: DeviceExpressionBuilder, row: int) -> bool:
    return expressions.table.kind[expressions.strip_casts(row)] == kinds.STRING


def _is_characters(type: Type) -> bool:
    return isinstance(type, Array) and isinstance(type.of, Scalar) and type.of.bits == 8


def _places(type: Type) -> list[tuple[str, Type]] | None:
    """Return the names and types of what an aggregate holds; None of any other type."""
    match type:
        case Array():
            return [("", type.of)] * min(type.count if type.count is not None else _MOST_ITEMS, _MOST_ITEMS)
        case Record(lanes=0) if type.fields:
            fields = [(field.name, field.type) for field in type.fields if field.name]
            return fields[:1] if type.union else fields
        case Record(lanes=0):
            return []
        case _:
            return None


class _Filler:
    """Puts the items of one list, in order, where they belong."""

    def __init__(self, expressions: DeviceExpressionBuilder, rows: list[int]) -> None:
        self.expressions = expressions
        self.rows = rows
        self.next = 0

    def fill(self, type: Type, places: list[tuple[str, Type]], span: Span) -> InitList | None:
        """Return an aggregate made of the items that are left; None where a designator is not understood."""
        items: dict[int, Expr] = {}
        at = 0
        while self.next < len(self.rows):
            row = self.rows[self.next]
            named = self._find_designated(row)
            if named is not None:
                name, row = named
                found = [n for n, (field, _) in enumerate(places) if field == name]
                if not found:
                    return None
                at = found[0]
            if at >= len(places):
                break
            item = self._item(row, places[at][1], span)
            if item is None:
                return None
            items[at] = item
            at += 1
        last = max(items, default=-1)
        others: dict[str, Expr] = {}
        if isinstance(type, Record) and not type.union and is_made(self.expressions.context, type):
            others, last = member_values(self.expressions, type, span), len(places) - 1
        whole = tuple(items.get(n) or others.get(places[n][0]) or _zero(places[n][1], span) for n in range(last + 1))
        return InitList(span=span, type=type, items=whole)

    def _find_designated(self, row: int) -> tuple[str, int] | None:
        """Return the member that a designator names and the row of its value; None where there is no designator."""
        table = self.expressions.table
        if table.kind[row] != kinds.UNEXPOSED_EXPR:
            return None
        named = [c for c in table.children(row) if table.kind[c] == kinds.MEMBER_REF]
        if not named and not self.expressions.span(row).text.startswith("["):
            return None
        values = table.expressions(row)
        if len(named) != 1 or not values:
            return "?", row
        return self.expressions.context.dump.declared[table.aux[named[0]]][1], values[-1]

    def _item(self, row: int, type: Type, span: Span) -> Expr | None:
        """Return what stands in one place: an item, or as many as an aggregate without braces of its own takes."""
        inner = self.expressions.strip_casts(row)
        below = _places(type)
        braced = self.expressions.table.kind[inner] == kinds.INIT_LIST
        held = self.expressions.type_of(inner)
        same = isinstance(held, Record) or _is_string(self.expressions, row)
        if below is None or braced or same or not below:
            self.next += 1
            return self.expressions.build(row)
        items: list[Expr] = []
        for _, part in below:
            if self.next >= len(self.rows):
                break
            made = self._item(self.rows[self.next], part, span)
            if made is None:
                return None
            items.append(made)
        return InitList(span=span, type=type, items=tuple(items))


def _zero(type: Type, span: Span) -> Expr:
    if _places(type) is not None:
        return InitList(span=span, type=type, items=())
    return Literal(span=span, type=type if isinstance(type, Scalar) else INT, text="0", value=0)
