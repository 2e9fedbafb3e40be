"""std::swap as the assignments that it does.

    std::swap(now, next);     { T was = now.width_; now.width_ = next.width_; next.width_ = was; … }

A std::vector is where its elements are and how many there are: swapping two of them moves no element and frees nothing,
so that the memory of each is the other's afterwards.

Invariant: only objects are taken apart that std::swap exchanges member by member: numbers, pointers, vectors, and
classes of such members that declare no copy, move, assignment or destructor of their own. The statement prints as the
user's text, and as std::swap of what it begins with (tree/containers.py) where something in it was rewritten.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec.structs

from warpsmith.base.source import Span
from warpsmith.front.c.context import Context
from warpsmith.front.cxx.classes.values import is_value
from warpsmith.front.cxx.objects import again, is_lvalue, is_pure, member_of
from warpsmith.tree.containers import SWAP
from warpsmith.tree.nodes import Assign, Binary, Block, DeclStmt, Expr, ExprStmt, Name, Stmt, VarDecl
from warpsmith.tree.types import Pointer, Record, Scalar, Symbol, Type

__all__ = ["swap"]

_MOST_MEMBERS = 24


def swap(context: Context, span: Span, left: Expr, right: Expr) -> Block | None:
    """Return the exchange of two objects; None where it may be more than the exchange of their members."""
    plain = all(is_lvalue(side) and is_pure(side) for side in (left, right))
    if (
        not plain
        or _bare(left.type) != _bare(right.type)
        or not (is_value(context, _bare(left.type)) or _is_any_vector(left.type))
        or _is_const(left.type)
    ):
        return None
    pairs = list(_leaves(left, right))
    if not 0 < len(pairs) <= _MOST_MEMBERS:
        return None
    place = Span(span.file, span.start, span.start)
    both = Binary(span=place, type=right.type, op=",", left=again(left), right=again(right))
    made = [stmt for number, pair in enumerate(pairs) for stmt in _exchange(span, number, pair)]
    return Block(span=span, intact=True, statements=(ExprStmt(span=place, expr=both), *made))


def _is_any_vector(type: Type) -> bool:
    """Whether a type is a std::vector with the library's allocator: whatever its elements are, none of them moves."""
    return (
        isinstance(type, Record) and type.tag.startswith("std::vector<") and "," not in type.tag and bool(type.fields)
    )


def _exchange(span: Span, number: int, pair: tuple[Expr, Expr]) -> Iterator[Stmt]:
    left, right = pair
    place = Span(span.file, span.start, span.start)
    key = f"{span.file.path}:{span.start}{SWAP}{number}"
    was = Symbol(f"swapped_{number}", key, _bare(left.type), "local", span)
    yield DeclStmt(span=place, declarations=(VarDecl(span=place, symbol=was, init=again(left)),))
    kept = Name(span=place, type=was.type, symbol=was)
    for target, value in ((left, again(right)), (right, kept)):
        assigned = Assign(span=place, type=target.type, op="=", target=again(target), value=value)
        yield ExprStmt(span=place, expr=assigned)


def _leaves(left: Expr, right: Expr) -> Iterator[tuple[Expr, Expr]]:
    """Yield the numbers and pointers of two objects, in pairs."""
    type = left.type
    if not isinstance(type, Record):
        yield left, right
        return
    for field in type.fields:
        mine, other = (member_of(side, field.name, side.span, intact=False) for side in (left, right))
        if mine is not None and other is not None:
            yield from _leaves(mine, other)


def _bare(type: Type) -> Type:
    match type:
        case Scalar(volatile=False):
            return Scalar(type.name, type.bits, type.kind, spelling=type.spelling)
        case Pointer():
            return Pointer(type.to)
        case Record():
            return msgspec.structs.replace(type, const=False)
        case _:
            return type


def _is_const(type: Type) -> bool:
    return isinstance(type, Scalar | Pointer | Record) and type.const
