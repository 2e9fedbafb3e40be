"""Closures as objects: a lambda that is more than called where it is made holds what it has captured.

    auto f = [=, &sum](int i) { … n … };      closure f = { &sum, n };       its members are captured0, captured1, …
    apply(f, 8)                               operator()(closure *this, int i) names this->captured1 for n

Invariant: members stand in the order of the captures: those that are written, then those of the body, as it names them.
"""

from __future__ import annotations

from typing import Final

from warpsmith.base.source import Span
from warpsmith.front.c.context import Context
from warpsmith.front.clang import kinds
from warpsmith.front.device.builders import DeviceExpressionBuilder
from warpsmith.front.device.calls import bind
from warpsmith.tree.nodes import Expr, InitList, Name
from warpsmith.tree.types import Pointer, Record, Type

__all__ = ["bind_captures", "closure", "is_closure"]

_VARIABLES: Final = frozenset({kinds.VAR_DECL, kinds.PARM_DECL})


def is_closure(type: Type) -> bool:
    """Whether objects of a type are made by a lambda."""
    return isinstance(type, Record) and "(lambda at " in type.tag


def find_captured(context: Context, head: str, first: int) -> list[int] | None:
    """Return the declarations of what a lambda has captured, in the order of its members; None where that is not seen.
    `head`: what stands in its brackets, `first`: the row of it, or of its call operator."""
    table = context.table
    rows = range(first, table.after[first])
    words = [word.strip() for word in head.split(",") if word.strip()]
    if any("=" in word.strip("=") or word in ("this", "*this") for word in words):
        return None
    if any(table.kind[r] == kinds.THIS or _is_own_member(context, r) for r in rows):
        return None
    own = {table.aux[r] for r in rows if table.kind[r] in _VARIABLES}
    named = dict.fromkeys(table.aux[r] for r in rows if table.kind[r] == kinds.DECL_REF)
    free = [n for n in named if n not in own and context.dump.declared[n][0] in _VARIABLES]
    free = [n for n in free if context.symbol(n).storage in ("local", "parameter") and not context.symbol(n).space]
    names = {context.symbol(n).name: n for n in free}
    written = [word.strip("& .") for word in words if word not in ("&", "=")]
    if any(name not in names for name in written):
        return None
    return list(dict.fromkeys([*(names[name] for name in written), *free]))


def _is_own_member(context: Context, row: int) -> bool:
    table = context.table
    if table.kind[row] != kinds.MEMBER_REF_EXPR or table.expressions(row):
        return False
    return context.dump.declared[table.aux[row]][0] == kinds.FIELD_DECL


def _head(context: Context, type: Record) -> str | None:
    """Return what stands in the brackets of the lambda whose objects have this type."""
    span = type.definition
    if span is None:
        return None
    text = span.file.text
    opening = text.find("[", span.start)
    return text[opening + 1 : text.find("]", opening)] if opening == span.start else None


def closure(expressions: DeviceExpressionBuilder, row: int, span: Span) -> Expr:
    """Return the object that a lambda makes."""
    type = expressions.type_of(row)
    head = _head(expressions.context, type) if isinstance(type, Record) else None
    found = find_captured(expressions.context, head, row) if head is not None else None
    if not isinstance(type, Record) or found is None or len(found) != len(type.fields):
        return expressions.make_opaque(row, "a lambda whose captures are not distinguished")
    items: list[Expr] = []
    for number, field in zip(found, type.fields, strict=True):
        value = expressions.find_capture(number, span)
        held = field.type
        items.append(bind(value, held) if isinstance(held, Pointer) and held.reference else value)
    return InitList(span=span, type=type, items=tuple(items))


def bind_captures(expressions: DeviceExpressionBuilder, this: Name, row: int) -> None:
    """Let what the call operator in `row` names of its surroundings be the members of its closure."""
    expressions.this = None  # that of the function around the lambda, which the closure may hold
    held = this.type.to if isinstance(this.type, Pointer) else this.type
    head = _head(expressions.context, held) if isinstance(held, Record) else None
    found = find_captured(expressions.context, head, row) if head is not None else None
    if not isinstance(held, Record) or found is None or len(found) != len(held.fields):
        return  # each use is a variable of another function, which is said where it stands
    for number, field in zip(found, held.fields, strict=True):
        expressions.bound[number] = expressions.hold_member(this, field.name)
