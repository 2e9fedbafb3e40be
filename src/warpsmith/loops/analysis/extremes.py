"""The values that counters and subscripts take in a loop nest, as forms that are known before it.

    for (i = 0; i < n; i++)            i in [0, n - 1]
        for (j = i; j < m; j++)        j in [0, m - 1]
            t[j + 1]                   subscript in [1, m]

Invariant: a Cover holds every value that is taken, where any is.
Limits: bounds that are not linear, comparisons that C does not make as integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.loops.linear import Linear, number, use
from warpsmith.tree.nodes import Binary, Cast, Expr, For, Literal
from warpsmith.tree.types import INT, LONG_LONG, Scalar, Symbol, common_type
from warpsmith.tree.walk import peel

__all__ = ["Cover", "cover_of", "extreme", "is_writable", "whole", "wide", "wide_expr"]


class Cover(Struct, frozen=True):
    """Bounds of the values, both taken in."""

    low: Linear
    high: Linear


def extreme(form: Linear, covers: Mapping[Symbol, Cover], *, greatest: bool) -> Linear:
    """Return a bound of the form while each variable runs over its cover: the greatest value, or the least."""
    total = Linear((), form.constant)
    for symbol, factor in form.terms:
        if symbol in covers:
            end = covers[symbol].high if (factor > 0) == greatest else covers[symbol].low
            total = total.plus(end, factor)
        else:
            total = total.plus(Linear(((symbol, 1),)), factor)
    return total


def cover_of(loop: For, covers: Mapping[Symbol, Cover]) -> Cover | None:
    """Return the values that a counter takes, or None; `covers` are those of the loops around it."""
    lower, bound = Linear.of(loop.lower), Linear.of(loop.bound)
    if lower is None or bound is None or not _compares(loop, lower, bound):
        return None
    up = loop.step > 0
    last = bound if loop.relation in ("<=", ">=") else bound.shift(-1 if up else 1)
    least, most = (lower, last) if up else (last, lower)
    return Cover(extreme(least, covers, greatest=False), extreme(most, covers, greatest=True))


def _compares(loop: For, lower: Linear, bound: Linear) -> bool:
    """Whether `counter relation bound` compares the integers, and the counter never wraps to below where it starts."""
    counter, type = loop.variable.type, peel(loop.bound).type
    if not isinstance(counter, Scalar) or not isinstance(type, Scalar) or loop.relation == "!=":
        return False
    if counter.bits < INT.bits:
        return False
    shared = common_type(counter, type)
    if isinstance(shared, Scalar) and shared.kind == "signed":
        return counter.kind == "signed"
    natural = not lower.terms and lower.constant >= 0 and loop.step > 0
    return natural and (type.kind == "unsigned" or (not bound.terms and bound.constant >= 0))


def whole(covers: Sequence[Cover]) -> Cover | None:
    """Return a cover of all of them, or None where their ends cannot be compared."""
    low, high = covers[0].low, covers[0].high
    for other in covers[1:]:
        below, above = other.low.minus(low), other.high.minus(high)
        if below.terms or above.terms:
            return None
        low = other.low if below.constant < 0 else low
        high = other.high if above.constant > 0 else high
    return Cover(low, high)


def is_writable(form: Linear) -> bool:
    """Whether the form can be worked out in `long long` for every value of its variables."""
    if len(form.terms) <= 1 and not form.constant and all(factor == 1 for _, factor in form.terms):
        return True
    narrow = all(isinstance(s.type, Scalar) and s.type.bits <= INT.bits for s in form.symbols)
    return narrow and sum(abs(factor) for _, factor in form.terms) < 2**24 and abs(form.constant) < 2**56


def wide_expr(form: Linear, span: Span) -> Expr:
    """Return the form as C: a variable or a number as it is, anything else worked out in `long long`."""
    ordered = sorted(form.terms, key=lambda term: term[1] < 0)
    if not ordered:
        return number(form.constant, span)
    if ordered[0][1] == 1 and len(ordered) == 1 and not form.constant:
        return use(ordered[0][0], span)
    result: Expr | None = None
    for symbol, factor in ordered:
        term: Expr = wide(use(symbol, span))
        size = factor if result is None else abs(factor)
        if size != 1:
            term = Binary(span=span, type=LONG_LONG, op="*", left=number(size, span), right=term)
        if result is not None:
            term = Binary(span=span, type=LONG_LONG, op="+" if factor > 0 else "-", left=result, right=term)
        result = term
    assert result is not None
    if not form.constant:
        return result
    op = "+" if form.constant > 0 else "-"
    return Binary(span=span, type=LONG_LONG, op=op, left=result, right=number(abs(form.constant), span))


def wide(expr: Expr) -> Expr:
    """Return a variable or expression as `long long`."""
    if expr.type == LONG_LONG or isinstance(expr, Literal):
        return expr
    return Cast(span=expr.span, type=LONG_LONG, operand=expr)
