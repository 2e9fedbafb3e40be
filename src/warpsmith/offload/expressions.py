"""Making host and kernel expressions, and their extremes over the counters of enclosing loops."""

from __future__ import annotations

from collections.abc import Mapping

from warpsmith.base.source import Span
from warpsmith.poly.isl.bound_values import constant
from warpsmith.tree.nodes import Binary, Cast, Conditional, Expr, Literal, Name, Unary
from warpsmith.tree.types import INT, LONG_LONG, Symbol, Type, is_integer
from warpsmith.tree.walk import names, peel, same

__all__ = ["binary", "extreme", "larger", "name", "number", "shifted", "smaller", "wide"]

Range = tuple[Expr, Expr]


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


def shifted(expr: Expr, by: int) -> Expr:
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


def extreme(expr: Expr, ranges: Mapping[Symbol, Range], most: bool) -> Expr | None:
    """Return the greatest (`most`) or least value that `expr` takes while each variable runs over its range.

    The result bounds `expr`, and reaches it where each variable occurs once. A part without such variables stays as it
    is, in its own type; the rest is in 64 bits. None where the expression is not monotone in a way that we can see.
    """
    if not any(n.symbol in ranges for n in names(expr)):
        return expr
    match peel(expr):
        case Name(symbol=symbol):
            return ranges[symbol][1 if most else 0]
        case Unary(op="-", operand=operand):
            inner = extreme(operand, ranges, not most)
            return None if inner is None else binary("-", number(0, expr.span), wide(inner))
        case Unary(op="+", operand=operand):
            return extreme(operand, ranges, most)
        case Cast(type=type, operand=operand) if is_integer(type):
            return extreme(operand, ranges, most) if getattr(type, "bits", 0) >= 32 else None
        case Conditional(then=then, other=other):
            a, b = extreme(then, ranges, most), extreme(other, ranges, most)
            if a is None or b is None:
                return None
            # the least of two values never exceeds the least of their greatest ones, and so the other way round
            upwards = _is_greater(peel(expr)) if _is_greater(peel(expr)) is not None else most
            return larger(wide(a), wide(b)) if upwards else smaller(wide(a), wide(b))
        case Binary() as inside:
            return _extreme_binary(inside, ranges, most)
        case _:
            return None


def _is_greater(expr: Expr) -> bool | None:
    """Whether `a > b ? a : b` (True: the greater), `a < b ? a : b` (False: the smaller), or neither (None)."""
    if not isinstance(expr, Conditional):
        return None
    test = peel(expr.condition)
    if not isinstance(test, Binary) or test.op not in ("<", "<=", ">", ">="):
        return None
    greater = test.op in (">", ">=")
    if same(test.left, expr.then) and same(test.right, expr.other):
        return greater
    return not greater if same(test.left, expr.other) and same(test.right, expr.then) else None


def _extreme_binary(expr: Binary, ranges: Mapping[Symbol, Range], most: bool) -> Expr | None:
    match expr.op:
        case "+" | "-":
            left = extreme(expr.left, ranges, most)
            right = extreme(expr.right, ranges, most if expr.op == "+" else not most)
            if left is None or right is None:
                return None
            return binary(expr.op, wide(left), wide(right))
        case "*":
            factor = constant(expr.left)
            varying = expr.right if factor is not None else expr.left
            factor = factor if factor is not None else constant(expr.right)
            if factor is None:
                return None
            inner = extreme(varying, ranges, most if factor >= 0 else not most)
            return None if inner is None else binary("*", number(factor, expr.span), wide(inner))
        case "/":
            divisor = constant(expr.right)
            inner = extreme(expr.left, ranges, most)
            return binary("/", wide(inner), number(divisor, expr.span)) if inner and divisor and divisor > 0 else None
        case _:
            return None
