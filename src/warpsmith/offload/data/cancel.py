"""Sums of whole numbers, said shorter: a term that is added and taken away again is gone.

    (long long)k + m - (long long)k                            (long long)m
    (long long)n * s + m + 1 - ((long long)s + 1)              (long long)n * s + m - (long long)s

Invariant: the result has the value of the sum and is computed with 64 bits, as the sum is.

Limits: only sums that are computed with 64 bits and a sign; products are compared, never multiplied out.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from warpsmith.poly.isl.bound_values import same_value
from warpsmith.tree.nodes import Binary, Cast, Expr, Literal, Node
from warpsmith.tree.types import LONG_LONG, Scalar
from warpsmith.tree.walk import peel, rebuild

__all__ = ["cancel_terms"]


class _Term(Struct, frozen=True):
    expr: Expr
    added: bool


def cancel_terms(expr: Expr) -> Expr:
    """Return an expression without the terms of its sums that cancel out."""
    changed = rebuild(expr, _cancelled)
    assert isinstance(changed, Expr)
    return changed


def _cancelled(node: Node) -> Node:
    if not (isinstance(node, Binary) and node.op in ("+", "-") and _is_wide(node)):
        return node
    terms = [*_terms(node, added=True)]
    left = _remaining(terms)
    if len(left) == len(terms):
        return node
    if not left:
        return Literal(span=node.span, type=LONG_LONG, text="0LL", value=0)
    first = next((term for term in left if term.added), None)
    return node if first is None else _sum(first, [term for term in left if term is not first], node)


def _terms(expr: Expr, *, added: bool) -> Iterator[_Term]:
    inner = peel(expr)
    while isinstance(inner, Cast) and _is_wide(inner) and _is_wide(inner.operand):
        inner = peel(inner.operand)
    if isinstance(inner, Binary) and inner.op in ("+", "-") and _is_wide(inner):
        yield from _terms(inner.left, added=added)
        yield from _terms(inner.right, added=added if inner.op == "+" else not added)
    else:
        yield _Term(expr, added)


def _remaining(terms: list[_Term]) -> list[_Term]:
    """Return the terms that are neither 0 nor taken away again."""
    left: list[_Term] = []
    for term in terms:
        if isinstance(zero := peel(term.expr), Literal) and zero.value == 0:
            continue
        opposite = next((one for one in left if one.added != term.added and same_value(one.expr, term.expr)), None)
        if opposite is None:
            left.append(term)
        else:
            left = [one for one in left if one is not opposite]
    return left


def _sum(first: _Term, others: list[_Term], at: Expr) -> Expr:
    value = first.expr
    if not _is_wide(value):
        value = Cast(span=at.span, type=LONG_LONG, operand=value)
    for term in others:
        op = "+" if term.added else "-"
        value = Binary(span=at.span, type=LONG_LONG, op=op, left=value, right=term.expr)
    return value


def _is_wide(expr: Expr) -> bool:
    return isinstance(expr.type, Scalar) and expr.type.kind == "signed" and expr.type.bits == 64
