"""The combination of what each thread of a region has.

    sum += mine;     sums[2] += mine;     if (mine > most) most = mine;     for (k …) sums[k] += mine[k];

Invariant: a statement is taken for a combination only where its whole effect is `target = target op local`, or that for
elements of the two, added. Arrays and structs that are added are looked at in concurrency/own_sums.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.poly.openmp.concurrency.additions import additions_of, place_of
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    If,
    Index,
    Literal,
    Name,
    Node,
    Stmt,
    Unary,
)
from warpsmith.tree.types import Array, Record, Symbol
from warpsmith.tree.walk import peel, walk

__all__ = ["NEUTRAL", "TeamUpdate", "parts_in", "starts_of"]

NEUTRAL: Final[Mapping[str, int]] = {"+": 0, "*": 1, "|": 0, "^": 0}
_UPDATES: Final = {"+=": "+", "*=": "*", "|=": "|", "^=": "^"}
_LESS: Final = frozenset({"<", "<="})
_MORE: Final = frozenset({">", ">="})


class TeamUpdate(Struct, frozen=True):
    """`target = target op local`; `places`: the elements of the two, where both are named by place, inside the loops
    `around`."""

    target: Symbol
    op: str
    local: Symbol
    span: Span
    places: tuple[Expr, Expr] | None = None
    around: tuple[For, ...] = ()


def parts_in(statements: Sequence[Stmt], around: tuple[For, ...] = ()) -> tuple[TeamUpdate, ...] | None:
    """Return the combinations that `statements` are, or None where one of them is something else."""
    found: list[TeamUpdate] = []
    for stmt in statements:
        if isinstance(stmt, Block | For):
            outer = (*around, stmt) if isinstance(stmt, For) else around
            inner = parts_in(stmt.statements if isinstance(stmt, Block) else (stmt.body,), outer)
            if inner is None:
                return None
            found += inner
            continue
        one = None if around else _part(stmt)
        added = (one,) if one is not None else _added(stmt, around)
        if added is None:
            return None
        found += added
    return tuple(found)


def _added(stmt: Stmt, around: tuple[For, ...]) -> tuple[TeamUpdate, ...] | None:
    """Return additions of elements of one variable to elements of another."""
    found: list[TeamUpdate] = []
    for addition in additions_of(stmt) or ():
        target = place_of(addition.target)
        local = place_of(addition.value) if addition.value is not None else None
        if target is None or local is None or addition.value is None:
            return None
        if not isinstance(local[0].symbol.type, Array | Record):
            return None
        places = (addition.target, addition.value)
        found.append(TeamUpdate(target[0].symbol, "+", local[0].symbol, stmt.span, places, around))
    return tuple(found) or None


def _part(stmt: Stmt) -> TeamUpdate | None:
    match stmt:
        case ExprStmt(expr=expr):
            return _update(peel(expr), stmt.span)
        case If(other=None):
            return _extreme(stmt)
        case _:
            return None


def _update(expr: Expr, span: Span) -> TeamUpdate | None:
    if not isinstance(expr, Assign):
        return None
    target, value = _variable(expr.target), peel(expr.value)
    if expr.op in _UPDATES:
        place, local = _place(expr.target), _variable(value)
        return None if local == place else _part_of(place, _UPDATES[expr.op], local, span)
    if target is None:
        return None
    if expr.op != "=" or not isinstance(value, Binary) or value.op not in NEUTRAL:
        return None
    pair = [_variable(value.left), _variable(value.right)]
    if target not in pair or None in pair:
        return None
    pair.remove(target)
    local = pair[0]
    return None if local is None or local == target else TeamUpdate(target, value.op, local, span)


def _extreme(stmt: If) -> TeamUpdate | None:
    """Return `if (local > target) target = local;` as a combination."""
    inside = stmt.then.statements if isinstance(stmt.then, Block) else (stmt.then,)
    condition = peel(stmt.condition)
    if len(inside) != 1 or not isinstance(inside[0], ExprStmt) or not isinstance(condition, Binary):
        return None
    assign = peel(inside[0].expr)
    if not isinstance(assign, Assign) or assign.op != "=":
        return None
    target, local = _variable(assign.target), _variable(assign.value)
    left, right = _variable(condition.left), _variable(condition.right)
    if target is None or local is None or {left, right} != {target, local} or target == local:
        return None
    larger = (condition.op in _MORE) if left == local else (condition.op in _LESS)
    if condition.op not in _LESS | _MORE:
        return None
    return TeamUpdate(target, "max" if larger else "min", local, stmt.span)


def _part_of(target: Symbol | None, op: str, local: Symbol | None, span: Span) -> TeamUpdate | None:
    return None if target is None or local is None else TeamUpdate(target, op, local, span)


def _place(expr: Expr) -> Symbol | None:
    """Return the variable that is updated, or the array of which one element with a fixed number is."""
    expr = peel(expr)
    if isinstance(expr, Index) and isinstance(peel(expr.index), Literal):
        return _variable(expr.base)
    return _variable(expr)


def _variable(expr: Expr) -> Symbol | None:
    expr = peel(expr)
    return expr.symbol if isinstance(expr, Name) else None


def starts_of(body: Node, local: Symbol) -> list[tuple[Node, int | float | None]]:
    """Return where `local` is set to a number, with the number (None: something else), outside compound updates."""
    found: list[tuple[Node, int | float | None]] = []
    for part in walk(body):
        if isinstance(part, DeclStmt):
            found += [(d, _number(d.init)) for d in part.declarations if d.symbol == local and d.init is not None]
        elif isinstance(part, ExprStmt):
            expr = peel(part.expr)
            if isinstance(expr, Assign) and expr.op == "=" and _variable(expr.target) == local:
                value = _number(expr.value)
                found += [(part, value)] if value is not None else []
    return found


def _number(expr: Expr) -> int | float | None:
    expr = peel(expr)
    if isinstance(expr, Unary) and expr.op == "-":
        value = _number(expr.operand)
        return None if value is None else -value
    return expr.value if isinstance(expr, Literal) else None
