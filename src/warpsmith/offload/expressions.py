"""Making host and kernel expressions."""

from __future__ import annotations

from warpsmith.base.source import Span
from warpsmith.poly.isl.bound_values import constant
from warpsmith.tree.nodes import Binary, Cast, Conditional, Expr, Literal, Name, Unary
from warpsmith.tree.types import INT, LONG_LONG, Symbol, Type
from warpsmith.tree.walk import peel

__all__ = ["binary", "larger", "name", "number", "shift_expression", "smaller", "wide"]


def number(value: int, span: Span) -> Expr:
    """Return the literal `value`; a negative one is a unary minus, as in C."""
    if value < 0:
        return Unary(span=span, type=INT, op="-", operand=number(-value, span))
    type = INT if value < 2**31 else LONG_LONG
    return Literal(span=span, type=type, text=str(value), value=value)


def name(symbol: Symbol, span: Span) -> Expr:
    """Return a use of `symbol`."""
    return Name(span=span, type=symbol.type, symbol=symbol)


def binary(op: str, left: Expr, right: Expr, type: Type = LONG_LONG) -> Expr:
    """Return `left op right`, without a literal zero that is added or subtracted."""
    if op in ("+", "-") and constant(right) == 0:
        return left
    if op == "+" and constant(left) == 0:
        return right
    return Binary(span=left.span, type=type, op=op, left=left, right=right)


def wide(expr: Expr) -> Expr:
    """Return `expr` as a long long: as it is where it is one or a small literal, else under a cast."""
    inner = peel(expr)
    if inner.type == LONG_LONG or isinstance(inner, Literal):
        return expr
    return Cast(span=expr.span, type=LONG_LONG, operand=expr)


def shift_expression(expr: Expr, by: int) -> Expr:
    """Return `expr + by` in 64 bits, without a zero."""
    if by == 0:
        return expr
    value = constant(expr)
    if value is not None:
        return number(value + by, expr.span)
    return binary("+" if by > 0 else "-", wide(expr), number(abs(by), expr.span))


def smaller(a: Expr, b: Expr) -> Expr:
    """Return `a < b ? a : b`."""
    return Conditional(span=a.span, type=LONG_LONG, condition=binary("<", a, b, INT), then=a, other=b)


def larger(a: Expr, b: Expr) -> Expr:
    """Return `a > b ? a : b`."""
    return Conditional(span=a.span, type=LONG_LONG, condition=binary(">", a, b, INT), then=a, other=b)
