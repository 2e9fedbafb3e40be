"""Pieces of a loop: single iterations, the loop once more over a part of its range, tests around statements."""

from __future__ import annotations

from collections.abc import Sequence

from warpsmith.base.verdict import Unknown
from warpsmith.loops.analysis.shape import does_not_fit
from warpsmith.loops.analysis.substitute import copy_tree, fixed_text, replace_values
from warpsmith.loops.fresh import Fresh, declared_symbols
from warpsmith.tree.nodes import (
    Binary,
    Block,
    Cast,
    Conditional,
    DeclStmt,
    Expr,
    For,
    If,
    Literal,
    Node,
    Stmt,
    Unary,
)
from warpsmith.tree.types import INT, Scalar, Type, common_type, promote
from warpsmith.tree.walk import peel

__all__ = [
    "choice",
    "compare_copies",
    "conjunction",
    "convert_to",
    "guard_run",
    "instance",
    "once_more",
    "plus",
    "typed_number",
    "unchangeable",
    "uncopyable",
]

_SUFFIXES = {"unsigned int": "u", "long": "L", "unsigned long": "uL", "long long": "LL", "unsigned long long": "uLL"}


def uncopyable(loop: For) -> Unknown | None:
    """Return why the body cannot stand in two places, or None."""
    for symbol in declared_symbols(loop.body):
        if symbol.storage != "local":
            return does_not_fit(f"{symbol.name} is declared static: every iteration shares one", loop)
    return None


def unchangeable(loop: For) -> Unknown | None:
    """Return why the body cannot be written for another value than its counter's, or None."""
    part = fixed_text(loop.body, frozenset({loop.variable}))
    if part is None:
        return uncopyable(loop)
    return does_not_fit(f"{loop.variable.name} stands in a text that cannot be rewritten", part)


def instance(loop: For, value: Expr, fresh: Fresh) -> tuple[Stmt, ...]:
    """Return a copy of the body for one value of the counter. What it declares it declares in a block of its own."""
    body = replace_values(copy_tree(loop.body, fresh), {loop.variable: value})
    if isinstance(body, Block) and not any(isinstance(s, DeclStmt) for s in body.statements):
        return body.statements
    return (Block(span=body.span, statements=(body,)),) if isinstance(body, DeclStmt) else (body,)


def once_more(loop: For, fresh: Fresh) -> For:
    """Return a copy of the loop, whatever it declares being another variable of the same name."""
    return copy_tree(loop, fresh)


def guard_run(condition: Expr | None, run: Sequence[Stmt]) -> Stmt:
    """Return the statements under an `if`; in a block where there is no condition and more than one of them."""
    span = run[0].span
    whole = run[0] if len(run) == 1 else Block(span=span, statements=tuple(run))
    return whole if condition is None else If(span=span, condition=condition, then=whole, other=None)


def compare_copies(left: Expr, relation: str, right: Expr) -> Expr:
    """Return a comparison of copies."""
    return Binary(span=left.span, type=INT, op=relation, left=copy_tree(left), right=copy_tree(right))


def conjunction(parts: Sequence[Expr]) -> Expr | None:
    """Return all of `parts` joined by &&; None where there are none."""
    result: Expr | None = None
    for part in parts:
        result = part if result is None else Binary(span=result.span, type=INT, op="&&", left=result, right=part)
    return result


def choice(condition: Expr, then: Expr, other: Expr) -> Expr:
    """Return `condition ? then : other`, of copies."""
    shared = common_type(then.type, other.type)
    return Conditional(
        span=condition.span, type=shared, condition=condition, then=copy_tree(then), other=copy_tree(other)
    )


def plus(expr: Expr, by: int) -> Expr:
    """Return `expr + by`, in the type that C gives it; a number is added up."""
    inner = peel(expr)
    if by == 0:
        return expr
    if isinstance(inner, Literal) and isinstance(inner.value, int) and inner.value + by >= 0:
        return typed_number(inner.value + by, inner.type, inner)
    amount = typed_number(abs(by), INT if abs(by) < 2**31 else expr.type, expr)
    shared = common_type(expr.type, amount.type)
    return Binary(span=expr.span, type=shared, op="+" if by > 0 else "-", left=expr, right=amount)


def typed_number(value: int, type: Type, near: Node) -> Expr:
    """Return a number of the (promoted) integer type `type`."""
    wanted = promote(type)
    if value < 0:
        return Unary(span=near.span, type=wanted, op="-", operand=typed_number(-value, wanted, near))
    suffix = _SUFFIXES.get(wanted.name, "") if isinstance(wanted, Scalar) else ""
    return Literal(span=near.span, type=wanted, text=f"{value}{suffix}", value=value)


def convert_to(expr: Expr, type: Type) -> Expr:
    """Return `expr`, whose value is one of `type`, so that arithmetic with it is what it is with a `type`."""
    if promote(peel(expr).type) == promote(type):
        return expr
    return Cast(span=expr.span, type=type, operand=expr)
