"""Objects that are made from nothing: what their members and their base class begin with.

    struct P { int n = 4; vec3 v; };      P p;         p.n = 4; p.v = vec3();        where vec3 has a constructor
                                          P{}          { 4, vec3() }                 all others are zero

Invariant: a member that gets a value is given one here, or is opaque.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from warpsmith.base.source import Span
from warpsmith.front.c.context import Context
from warpsmith.front.clang import kinds
from warpsmith.front.cxx.objects import again
from warpsmith.front.device.builders import DeviceExpressionBuilder
from warpsmith.tree.nodes import (
    Assign,
    Call,
    Cast,
    Expr,
    ExprStmt,
    Index,
    InitList,
    Literal,
    Name,
    Stmt,
    Unary,
    Verbatim,
)
from warpsmith.tree.types import INT, Array, FunctionType, Pointer, Record, Scalar, Symbol, Type

__all__ = ["has_made_base", "is_made", "make_members", "make_object", "member_values", "value_from_nothing"]

_MOST_ELEMENTS: Final = 64
"""Objects of an array that are made one by one."""


def is_made(context: Context, type: Type) -> bool:
    """Whether an object of a type gets values where nothing is said."""
    while isinstance(type, Array):
        type = type.of
    return isinstance(type, Record) and not type.lanes and context.types.fresh(type.tag) > 0


def first_values(context: Context, type: Record) -> dict[str, int]:
    """Return the members of a class that have a value of their own, with the rows of it."""
    table, names, found = context.table, {field.name for field in type.fields}, dict[str, int]()
    if type.definition is None:
        return found
    for row, kind in enumerate(table.kind):
        if kind != kinds.FIELD_DECL or table.aux[row] < 0:
            continue
        _, name, _, _, _, file, offset, *_ = context.dump.declared[table.aux[row]]
        here = file >= 0 and context.dump.user[file] and context.text(file).file is type.definition.file
        if name in names and here and type.definition.start <= offset < type.definition.end:
            value = _first_value(context, row)
            if value is not None:
                found[name] = value
    return found


def _first_value(context: Context, row: int) -> int | None:
    """Return what a field is made from where nothing else is said; before it stand a width, or extents."""
    declared = context.dump.declared[context.table.aux[row]]
    # arguments of the type stand ahead of the name
    parts = [part for part in context.table.expressions(row) if context.table.start[part] > declared[6]]
    if len(parts) <= declared[10]:
        return None
    tag, _, _, _ = context.dump.types[declared[2]]
    listed = context.table.kind[parts[-1]] == kinds.INIT_LIST
    return parts[-1] if tag != "a" or listed else None


def make_object(expressions: DeviceExpressionBuilder, target: Expr, span: Span) -> Iterator[Stmt]:
    """Yield what makes an object from nothing."""
    context, type = expressions.context, target.type
    if not is_made(context, type):
        return
    if not isinstance(type, Record):
        yield from _make_elements(expressions, target, span)
        return
    made = _construct_default(context, type, span)
    if made is not None:
        yield _sets(target, made, span)
        return
    yield from _make_base(expressions, target, span)
    yield from make_members(expressions, target, span, frozenset())


def _make_elements(expressions: DeviceExpressionBuilder, target: Expr, span: Span) -> Iterator[Stmt]:
    """Yield what makes the objects of an array from nothing, one after the other."""
    type = target.type
    assert isinstance(type, Array)
    if type.count is None or type.count > _MOST_ELEMENTS:
        yield _make_unseen(target, span, f"an array of more than {_MOST_ELEMENTS} objects that a constructor makes")
        return
    for number in range(type.count):
        index = Literal(span=span, type=INT, text=str(number), value=number)
        yield from make_object(expressions, Index(span=span, type=type.of, base=again(target), index=index), span)


def _make_base(expressions: DeviceExpressionBuilder, target: Expr, span: Span) -> Iterator[Stmt]:
    """Yield what makes the parts of an object that are its base classes'."""
    type = target.type
    assert isinstance(type, Record)
    types = expressions.context.types
    for base in types.bases(type.tag):
        if base is None or not is_made(expressions.context, base):
            continue
        if not types.is_base_at_start(type.tag, base.tag):
            yield _make_unseen(target, span, f"the constructor of one of several base classes of {type.tag}")
            continue
        pointer = Unary(span=span, type=Pointer(type), op="&", operand=again(target))
        part = Unary(span=span, type=base, op="*", operand=Cast(span=span, type=Pointer(base), operand=pointer))
        yield from make_object(expressions, part, span)


def make_members(
    expressions: DeviceExpressionBuilder, target: Expr, span: Span, done: frozenset[str]
) -> Iterator[Stmt]:
    """Yield what gives a class's own members their values, save those in `done`; with `""` in it, also its base is."""
    context, type = expressions.context, target.type
    assert isinstance(type, Record)
    rows, wanted = first_values(context, type), context.types.beginnings(type.tag)
    base = context.types.base(type.tag)
    inherited = {field.name for field in base.fields} if base is not None else set[str]()
    for field in type.fields:
        if not field.name or field.name in done or field.name in inherited:
            continue
        member = expressions.member_of(again(target), field.name, span)
        if member is None:
            continue
        if field.name in rows:
            yield _sets(member, expressions.build(rows[field.name]), span)
        elif field.name in wanted:
            yield _make_unseen(member, span, f"what {type.tag}::{field.name} begins with")
        else:
            yield from make_object(expressions, member, span)


def has_made_base(context: Context, type: Record) -> bool:
    """Whether a base class has code or values that make its part of an object."""
    return any(base is not None and is_made(context, base) for base in context.types.bases(type.tag))


def value_from_nothing(expressions: DeviceExpressionBuilder, type: Record, span: Span) -> Expr:
    """Return an object of a class that is made from nothing, its other members zero."""
    made = _construct_default(expressions.context, type, span)
    if made is not None:
        return made
    if has_made_base(expressions.context, type):
        return expressions.make_unseen(span, type, f"what the part of {type.tag} that is its base class begins with")
    values = member_values(expressions, type, span)
    return InitList(span=span, type=type, items=tuple(values[field.name] for field in type.fields if field.name))


def member_values(expressions: DeviceExpressionBuilder, type: Record, span: Span) -> dict[str, Expr]:
    """Return what each member of a class has where a list of initial values says nothing of it."""
    context = expressions.context
    rows, wanted = first_values(context, type), context.types.beginnings(type.tag)
    values: dict[str, Expr] = {}
    for field in type.fields:
        if field.name in rows:
            values[field.name] = expressions.build(rows[field.name])
        elif isinstance(field.type, Record) and is_made(context, field.type):
            values[field.name] = value_from_nothing(expressions, field.type, span)
        elif field.name in wanted or is_made(context, field.type):
            values[field.name] = expressions.make_unseen(span, field.type, f"what {type.tag}::{field.name} begins with")
        else:
            values[field.name] = _zero(field.type, span)
    return values


def _zero(type: Type, span: Span) -> Expr:
    if isinstance(type, Record | Array):
        return InitList(span=span, type=type, items=())
    return Literal(span=span, type=type if isinstance(type, Scalar) else INT, text="0", value=0)


def _construct_default(context: Context, type: Record, span: Span) -> Expr | None:
    """Return the call of a class's constructor without parameters, where it is the user's; its text is there."""
    for number in context.bodies:
        declared = context.dump.declared[number]
        owner = context.detail(number)[2] if declared[0] == kinds.CONSTRUCTOR else -1
        symbol = context.symbol(number)
        if owner < 0 or not isinstance(symbol.type, FunctionType):
            continue
        made, parameters = context.types.of(owner), symbol.type.parameters[1 if symbol.type.method else 0 :]
        if isinstance(made, Record) and made.tag == type.tag and not parameters:
            whole = FunctionType(made, ())
            function = Name(span=span, type=whole, symbol=_with_type(symbol, whole))
            return Call(span=span, type=made, function=function, arguments=())
    return None


def _with_type(symbol: Symbol, type: FunctionType) -> Symbol:
    return Symbol(symbol.name, symbol.key, type, symbol.storage, symbol.span)


def _sets(target: Expr, value: Expr, span: Span) -> Stmt:
    pointer = isinstance(target.type, Pointer) and target.type.reference
    made = Unary(span=span, type=target.type, op="&", operand=value) if pointer else value
    return ExprStmt(span=span, expr=Assign(span=span, type=target.type, op="=", target=target, value=made))


def _make_unseen(target: Expr, span: Span, reason: str) -> Stmt:
    """Return a statement that gives an object values of which nothing is known."""
    root = target
    while not isinstance(root, Name):
        root = next(part for part in (getattr(root, n, None) for n in ("base", "operand")) if part is not None)
    named = (root.symbol,)
    return Verbatim(
        span=span, text=span.text, reads=named, writes=named, calls=True, control=False, reason=reason
    )  # fmt: skip
