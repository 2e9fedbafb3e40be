"""The extremes of an expression while the counters of enclosing loops run over their ranges, as host expressions.

    i in [0, n - 1]     m - i       [m - (n - 1), m]
                        i / 2 + m   [m, (n - 1) / 2 + m]

Invariant: the value of the expression, as C computes it in its own types, lies between the two ends, which are computed
in 64 bits. Unsigned arithmetic is arithmetic modulo 2^bits: where the ends of a part may leave its type, the host tests
that, and then the part may be anything of its type:

    unsigned m, i       m - i       [m - (n - 1) < 0 ? 0 : m - (n - 1),  m - (n - 1) < 0 ? 4294967295 : m]

Limits: sums, differences, products with a number, quotients by one, choices and conversions; sizes are below 2^63. What
has wrapped around in 64 bits is `far`: more than any loop reaches from a start that has not.
"""

from __future__ import annotations

from collections.abc import Mapping

from warpsmith.offload.expressions import binary, larger, number, smaller, wide
from warpsmith.poly.isl.bound_values import constant
from warpsmith.tree.nodes import Binary, Cast, Conditional, Expr, Literal, Name, Unary
from warpsmith.tree.types import INT, LONG_LONG, Scalar, Symbol, Type, integer_range, is_integer
from warpsmith.tree.walk import names, peel, same, walk

__all__ = ["Range", "extremes", "is_far"]

Range = tuple[Expr, Expr]
_Residue = tuple[Range, bool]
_FAR = 2**62
"""Stands for more elements than any loop reaches."""


def extremes(expr: Expr, ranges: Mapping[Symbol, Range], target: Type | None = None) -> Range | None:
    """Return ends of the values that `expr`, converted to `target` where that is given, takes while each variable runs
    over its range; they are reached where each variable occurs once and nothing wraps around.

    A part without such variables stays as it is, in its own type; the rest is in 64 bits. None where the expression is
    not monotone in a way that we can see.
    """
    if not any(n.symbol in ranges for n in names(expr)):
        if target is None or constant(expr) is not None or _keeps(peel(expr).type, target):
            return expr, expr
        same_type = Cast(span=expr.span, type=target, operand=expr)
        return same_type, same_type
    return _exact(expr, ranges, peel(expr).type if target is None else target)


def _exact(expr: Expr, ranges: Mapping[Symbol, Range], target: Type) -> Range | None:
    """Return the ends of the number that an expression is after conversion to an integer type."""
    expr = peel(expr)
    if not isinstance(expr.type, Scalar) or not isinstance(target, Scalar):
        return None
    if not is_integer(expr.type) or not is_integer(target) or "bool" in (expr.type.kind, target.kind):
        return None
    found = _residue(expr, ranges)
    if found is None:
        return None
    ends, sure = found
    if not sure and expr.type.bits < target.bits:
        narrow = _within(ends, expr.type)
        if narrow is None:
            return None
        ends, sure = narrow, True
    return ends if sure and _keeps(expr.type, target) else _within(ends, target)


def _residue(expr: Expr, ranges: Mapping[Symbol, Range]) -> _Residue | None:
    """Return the ends of numbers that are congruent to the values of `expr` modulo 2^bits of its type, and whether they
    are surely the values themselves."""
    expr = peel(expr)
    type = expr.type
    if not any(n.symbol in ranges for n in names(expr)):
        return (expr, expr), True
    match expr:
        case Name(symbol=symbol):
            return ranges[symbol], True
        case Unary(op="-" | "+" as op, operand=operand):
            inner = _part(operand, ranges, type)
            return None if inner is None else (inner if op == "+" else _negate_range(inner), _is_signed(type))
        case Cast(operand=operand) if isinstance(type, Scalar) and is_integer(type):
            inner = _part(operand, ranges, type)
            return None if inner is None else (inner, False)
        case Conditional(then=then, other=other):
            chosen = _choose_range(expr, _exact(then, ranges, type), _exact(other, ranges, type))
            return None if chosen is None else (chosen, True)
        case Binary(op="/"):
            quotient = _quotient(expr, _exact(expr.left, ranges, type))
            return None if quotient is None else (quotient, True)
        case Binary():
            combined = _combine_ranges(expr, ranges)
            return None if combined is None else (combined, _is_signed(type))
        case _:
            return None


def _part(expr: Expr, ranges: Mapping[Symbol, Range], type: Type) -> Range | None:
    """Return the ends of an operand of arithmetic in `type`: congruent ones where that is arithmetic modulo 2^bits."""
    own = peel(expr).type
    if not isinstance(own, Scalar) or not isinstance(type, Scalar) or not is_integer(own) or not is_integer(type):
        return None
    if own.bits < type.bits or _is_signed(type):
        return _exact(expr, ranges, own if own.bits < type.bits else type)
    found = _residue(expr, ranges)
    return None if found is None else found[0]


def _negate_range(inner: Range) -> Range:
    low, high = inner
    zero = number(0, low.span)
    return binary("-", zero, wide(high)), binary("-", zero, wide(low))


def _choose_range(expr: Conditional, then: Range | None, other: Range | None) -> Range | None:
    if then is None or other is None or is_far(then[1]) or is_far(other[1]):
        return None
    (a, c), (b, d) = ((wide(low), wide(high)) for low, high in (then, other))
    greater = _is_greater(expr)
    # the least of two values never exceeds the least of their greatest ones, and so the other way round
    low = larger(a, b) if greater else smaller(a, b)
    return low, (larger(c, d) if greater is not False else smaller(c, d))


def _is_greater(expr: Conditional) -> bool | None:
    """Whether `a > b ? a : b` (True: the greater), `a < b ? a : b` (False: the smaller), or neither (None), compared in
    the type of the result."""
    test = peel(expr.condition)
    if not isinstance(test, Binary) or test.op not in ("<", "<=", ">", ">="):
        return None
    if not all(_keeps(peel(side).type, expr.type) for side in (test.left, test.right)):
        return None
    greater = test.op in (">", ">=")
    if same(test.left, expr.then) and same(test.right, expr.other):
        return greater
    return not greater if same(test.left, expr.other) and same(test.right, expr.then) else None


def _combine_ranges(expr: Binary, ranges: Mapping[Symbol, Range]) -> Range | None:
    type = expr.type
    match expr.op:
        case "+" | "-" as op:
            left, right = _part(expr.left, ranges, type), _part(expr.right, ranges, type)
            if left is None or right is None:
                return None
            low, high = (right[1], right[0]) if op == "-" else right
            return binary(op, wide(left[0]), wide(low)), binary(op, wide(left[1]), wide(high))
        case "*":
            factor = constant(expr.left)
            inner = _part(expr.right if factor is not None else expr.left, ranges, type)
            factor = factor if factor is not None else constant(expr.right)
            if factor is None or inner is None:
                return None
            ends = [binary("*", number(factor, expr.span), wide(end)) for end in inner]
            return (ends[0], ends[1]) if factor >= 0 else (ends[1], ends[0])
        case _:
            return None


def _quotient(expr: Binary, inner: Range | None) -> Range | None:
    divisor = constant(expr.right)
    if inner is None or not divisor or divisor <= 0 or is_far(inner[1]):
        return None
    low, high = (binary("/", wide(end), number(divisor, expr.span)) for end in inner)
    return low, high


# --- types


def _keeps(own: Type, target: Type) -> bool:
    """Whether every value of a type is one of the other, too."""
    if not isinstance(own, Scalar) or not isinstance(target, Scalar) or not is_integer(own) or not is_integer(target):
        return False
    low, high = integer_range(own)
    return integer_range(target)[0] <= low and high <= integer_range(target)[1]


def _within(found: Range, type: Type) -> Range | None:
    """Return ends that hold also where the value is taken modulo 2^bits, or None."""
    if not isinstance(type, Scalar) or not is_integer(type):
        return None
    (low, high), (least, most) = found, integer_range(type)
    below = _bounds(low)[0] < least
    above = most < 2**63 - 1 and _bounds(high)[1] > most
    if not below and not above:
        return found
    most = min(most, _FAR)
    tests = [binary("<", wide(low), number(least, low.span), INT)] if below else []
    tests += [binary(">", wide(high), number(most, high.span), INT)] if above else []
    test = tests[0] if len(tests) == 1 else binary("||", tests[0], tests[1], INT)
    ends = number(least, low.span), number(most, high.span)
    return _either(test, ends[0], low), _either(test, ends[1], high)


def _either(test: Expr, then: Expr, other: Expr) -> Expr:
    return Conditional(span=other.span, type=LONG_LONG, condition=test, then=then, other=wide(other))


def is_far(end: Expr) -> bool:
    """Whether an end may stand for values that have wrapped around in 64 bits."""
    return any(isinstance(part, Literal) and part.value == _FAR for part in walk(end))


# --- what is known of an end when the port is written


def _bounds(end: Expr) -> tuple[int, int]:
    """Return numbers between which an end lies, by the types of the variables in it."""
    end = peel(end)
    if isinstance(end, Conditional):
        then, other = _bounds(end.then), _bounds(end.other)
        return min(then[0], other[0]), max(then[1], other[1])
    terms = _linear(end)
    if terms is None:
        return _of_type(end.type)
    low = high = 0
    for symbol, factor in terms.items():
        least, most = (1, 1) if symbol is None else _of_type(symbol.type)
        low += min(factor * least, factor * most)
        high += max(factor * least, factor * most)
    return low, high


def _of_type(type: Type) -> tuple[int, int]:
    low, high = integer_range(type) if isinstance(type, Scalar) and is_integer(type) else (-(2**63), 2**63)
    return low, min(high, 2**63 - 1)


def _linear(expr: Expr) -> dict[Symbol | None, int] | None:
    """Return an end as factors of variables, and of 1 (None), where it is such a sum: `n - (n - 1)` is 1."""
    number = constant(expr)
    if number is not None:
        return {None: number}
    match peel(expr):
        case Name(symbol=symbol) if is_integer(symbol.type):
            return {symbol: 1}
        case Cast(type=type, operand=operand) if type == LONG_LONG and is_integer(peel(operand).type):
            return _linear(operand)
        case Unary(op="-", operand=operand, type=type) if _is_signed(type):
            return _sum({}, _linear(operand), -1)
        case Binary(op="+" | "-" as op, left=left, right=right, type=type) if _is_signed(type):
            return _sum(_linear(left), _linear(right), 1 if op == "+" else -1)
        case Binary(op="*", left=left, right=right, type=type) if _is_signed(type):
            factor = constant(left)
            other = right if factor is not None else left
            factor = factor if factor is not None else constant(right)
            return None if factor is None else _sum({}, _linear(other), factor)
        case _:
            return None


def _is_signed(type: Type) -> bool:
    return isinstance(type, Scalar) and type.kind == "signed"


def _sum(
    one: dict[Symbol | None, int] | None, other: dict[Symbol | None, int] | None, factor: int
) -> dict[Symbol | None, int] | None:
    if one is None or other is None:
        return None
    return {s: one.get(s, 0) + factor * other.get(s, 0) for s in one.keys() | other.keys()}
