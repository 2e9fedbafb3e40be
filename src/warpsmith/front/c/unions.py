"""Members of unions: a number is read as any member is; what writes one is text that writes to the whole union.

    a[i] = u.f;      Member(u, f)                                 places.py knows no more of it than that it lies in u
    u.i = 3;         VerbatimExpr, writes u                       all members change, of whatever type they are
    c[i].v.n = i;    VerbatimExpr, writes what c leads to         not i: the counter of a loop around it stays one

Invariant: no Member of a union is written, and none has its address taken, so that no analysis can take two members of
one union for two objects.
"""

from __future__ import annotations

import msgspec.structs

from warpsmith.base.source import Span
from warpsmith.front.c.builders import ExpressionBuilder
from warpsmith.tree.nodes import Assign, Call, Expr, Member, Unary, VerbatimExpr
from warpsmith.tree.types import Array, Pointer, Record, Scalar, Type
from warpsmith.tree.walk import peel, root_symbol, walk

__all__ = ["holder_of", "read_member", "written_place"]


def read_member(builder: ExpressionBuilder, row: int, span: Span, base: Expr, field: str) -> Expr:
    """Return the number in a union at a row, as what reads it has it; anything else in one is text."""
    type = builder.context.types.of(builder.table.type[row])
    plain = isinstance(type, Scalar) and not type.volatile and builder.context.dump.marks is None
    if not plain or not field or not _is_union(base) or any(_acts(part) for part in walk(base)):
        return builder.make_opaque(row, "a union member")
    arrow = isinstance(base.type, Pointer | Array)
    return Member(span=span, intact=builder.own, type=type, base=base, field=field, arrow=arrow)


def _acts(part: object) -> bool:
    changes = isinstance(part, Unary) and part.op in ("x++", "x--", "++x", "--x")
    return changes or isinstance(part, Assign | Call | VerbatimExpr)


def written_place(builder: ExpressionBuilder, row: int, place: Expr, operator: str) -> Expr:
    """Return the left operand: text, where it is a number in a union that is written, or whose address is taken."""
    member, plain = peel(place), operator in ("+", "-", "!", "~", "*")
    if plain or builder.context.cxx or not isinstance(member, Member) or not _is_union(peel(member.base)):
        return place
    opaque, root = builder.make_opaque(row, "a union member"), root_symbol(place)
    return opaque if root is None else msgspec.structs.replace(opaque, writes=(root,))


def holder_of(base: Expr) -> Type:
    """Return the type of the object whose member `base.field` or `base->field` is."""
    holder = base.type.to if isinstance(base.type, Pointer) else base.type
    return holder.of if isinstance(holder, Array) else holder


def _is_union(base: Expr) -> bool:
    holder = holder_of(base)
    return isinstance(holder, Record) and holder.union
