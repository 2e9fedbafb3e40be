"""Statements that add to a place, or set it to zero: the words of which sums over the threads of a team are made.

    part[me][k] += x;     count[k]++;     s.re = s.re + x;     (s.re = s.re + x, s.im = s.im + y);

Invariant: what is found is the whole effect of the expression, operands of a comma one by one.
Limits: what a value or a subscript does besides is the caller's question.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from warpsmith.poly.openmp.thread_counts import constant_of
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    Expr,
    ExprStmt,
    Index,
    InitList,
    Literal,
    Member,
    Name,
    SizeOf,
    Stmt,
    Unary,
)
from warpsmith.tree.types import Pointer, Record, Scalar, Type, byte_size
from warpsmith.tree.walk import peel, same, walk

__all__ = ["ADDS", "PlaceAddition", "additions_of", "cleared_in", "is_plain", "is_sum_of", "is_zero", "place_of"]

ADDS: Final = frozenset({"+=", "-="})
_STEPS: Final = ("++", "--")


class PlaceAddition(Struct, frozen=True):
    """`target += value`, or one less; `value` None: 1."""

    target: Expr
    value: Expr | None


def additions_of(stmt: Stmt) -> tuple[PlaceAddition, ...] | None:
    """Return what a statement adds, where it is made of additions alone; None where it is something else."""
    if not isinstance(stmt, ExprStmt):
        return None
    found = [_addition(expr) for expr in _operands(stmt.expr)]
    return None if None in found else tuple(one for one in found if one is not None)


def _operands(expr: Expr) -> Iterator[Expr]:
    """Yield the operands of a comma, or the expression itself."""
    expr = peel(expr)
    if isinstance(expr, Binary) and expr.op == ",":
        yield from _operands(expr.left)
        yield from _operands(expr.right)
    else:
        yield expr


def _addition(expr: Expr) -> PlaceAddition | None:
    if isinstance(expr, Unary) and any(step in expr.op for step in _STEPS):
        return PlaceAddition(peel(expr.operand), None)
    if not isinstance(expr, Assign):
        return None
    target, value = peel(expr.target), peel(expr.value)
    if expr.op in ADDS:
        return PlaceAddition(target, value)
    if expr.op != "=" or not isinstance(value, Binary) or value.op not in ("+", "-"):
        return None
    if same(peel(value.left), target):
        return PlaceAddition(target, peel(value.right))
    return PlaceAddition(target, peel(value.left)) if value.op == "+" and same(peel(value.right), target) else None


def cleared_in(stmt: Stmt) -> tuple[Expr, ...]:
    """Return the places that a statement sets to zero, where it does nothing else; a Name is all of a variable."""
    if not isinstance(stmt, ExprStmt):
        return ()
    found = [_cleared(expr) for expr in _operands(stmt.expr)]
    return () if None in found else tuple(one for one in found if one is not None)


def _cleared(expr: Expr) -> Expr | None:
    if isinstance(expr, Assign):
        return peel(expr.target) if expr.op == "=" and is_zero(expr.value) else None
    called = direct_call(expr) if isinstance(expr, Call) else None
    if not isinstance(expr, Call) or called is None or called.name != "memset" or len(expr.arguments) != 3:
        return None
    place, size = peel(expr.arguments[0]), peel(expr.arguments[2])
    while isinstance(place, Cast):
        place = peel(place.operand)
    place = peel(place.operand) if isinstance(place, Unary) and place.op == "&" else place
    bytes = byte_size(place.type)
    whole = bytes is not None and not isinstance(place.type, Pointer) and _number(size) == bytes
    return place if whole and is_zero(expr.arguments[1]) else None


def _number(expr: Expr) -> int | None:
    """Return the number that a product of numbers and sizes is."""
    expr = peel(expr)
    if isinstance(expr, Binary) and expr.op == "*":
        sides = _number(expr.left), _number(expr.right)
        return None if sides[0] is None or sides[1] is None else sides[0] * sides[1]
    number = expr.value if isinstance(expr, SizeOf) else constant_of(expr)
    return number if isinstance(number, int) else None


def is_zero(expr: Expr) -> bool:
    """Whether an expression is 0, or a list of zeroes."""
    expr = peel(expr)
    if isinstance(expr, InitList):
        return all(map(is_zero, expr.items))
    return constant_of(expr) == 0


def place_of(expr: Expr) -> tuple[Name, tuple[Expr, ...], tuple[str, ...]] | None:
    """Return the variable of a place, its subscripts and its members, each from the outside in; None where a place is
    reached otherwise."""
    subscripts: list[Expr] = []
    members: list[str] = []
    current = peel(expr)
    while not isinstance(current, Name):
        if isinstance(current, Index):
            subscripts.insert(0, current.index)
        elif isinstance(current, Member) and _is_whole(current):
            members.insert(0, current.field)
        else:
            return None
        current = peel(current.base)
    return current, tuple(subscripts), tuple(members)


def _is_whole(place: Member) -> bool:
    """Whether a member has memory of its own: it is no bit-field, and its record no union."""
    record = place.base.type.to if isinstance(place.base.type, Pointer) else place.base.type
    fields = record.fields if isinstance(record, Record) and not record.union else ()
    return any(one.name == place.field and not one.bits for one in fields)


def is_plain(expr: Expr) -> bool:
    """Whether an expression is made of variables and numbers alone."""
    return all(isinstance(part, Name | Literal | Binary | Cast) for part in walk(peel(expr)))


def is_sum_of(part: Type, total: Type) -> bool:
    """Whether sums in the type of the parts lose nothing that a sum in the total's type has."""
    if not isinstance(part, Scalar) or not isinstance(total, Scalar):
        return False
    kinds = {part.kind, total.kind}
    alike = kinds == {"float"} or kinds <= {"signed", "unsigned"}
    return alike and part.bits >= total.bits
