"""Launch ranges: which counters a grid must cover, and when a thread runs the body.

    for (i = 0; i < n; i++)                 i: lower 0, count n
        for (j = i; j < m - i; j++)         j: lower 0, count m: the extremes of i and m - i over i in [0, n - 1]
                                            guard of a thread: i < n, and j >= i && j < m - i

Invariant: every value that a counter takes is lower + step * t for one t in [0, count), and a thread's guard holds
exactly for the values that the loop takes. Where a bound's extremes cannot be written, or a loop with a step other than
1 starts at a place that moves, fewer loops are mapped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warpsmith.offload.expressions import binary, name, number, shift_expression, wide
from warpsmith.offload.mapping.extremes import Range, extremes, is_far
from warpsmith.poly.isl.bound_values import constant
from warpsmith.tree.nodes import Binary, Cast, Conditional, Expr, For, Literal, Name
from warpsmith.tree.types import INT, LONG_LONG, Scalar, Symbol, common_type
from warpsmith.tree.walk import names, peel

__all__ = [
    "LaunchRange",
    "counter_range",
    "entry_condition",
    "final_value",
    "guard",
    "launch_ranges",
    "most_trips",
    "trip_count",
]

LaunchRange = tuple[Expr, Expr]


def launch_ranges(loops: Sequence[For]) -> tuple[LaunchRange, ...] | None:
    """Return (lower, count) of each loop of a nest, outermost first, or None where one cannot be covered."""
    found: list[LaunchRange] = []
    inside: dict[Symbol, Range] = {}
    for loop in loops:
        ends = counter_range(loop, inside)
        if ends is None:
            return None
        low, high = ends
        moves = any(n.symbol in inside for n in names(loop.lower))
        if moves and abs(loop.step) != 1:
            return None
        first = low if loop.step > 0 else high
        plain = not moves and not any(n.symbol in inside for n in names(loop.bound))
        found.append((first, _count(loop, low, high, plain)))
        inside[loop.variable] = (low, high)
    return tuple(found)


def counter_range(loop: For, ranges: Mapping[Symbol, Range]) -> Range | None:
    """Return the least and greatest value that the counter takes (a cover of them, where it runs at all)."""
    up = loop.step > 0
    # the bound is compared in the type that C compares the two in
    start = extremes(loop.lower, ranges, loop.variable.type)
    bound = extremes(loop.bound, ranges, common_type(loop.variable.type, loop.bound.type))
    if start is None or bound is None or (is_far(start[1]) and (is_far(bound[1]) or not up)):
        return None
    strict = loop.relation in ("<", ">", "!=")
    last = shift_expression(bound[1 if up else 0], (-1 if up else 1) if strict else 0)
    return (start[0], last) if up else (last, start[1])


def _count(loop: For, low: Expr, high: Expr, plain: bool) -> Expr:
    """Return how many values of the counter the launch covers; at most 0: nothing to do."""
    count = _distance(low, high, abs(loop.step), loop)
    if not plain or _same_order(loop):
        return count
    # The comparison converts one side: where it is false at the start, as C evaluates it, nothing runs.
    return Conditional(
        span=count.span, type=LONG_LONG, condition=entry_condition(loop), then=count, other=number(0, count.span)
    )


def _same_order(loop: For) -> bool:
    """Whether `lower relation bound`, as C converts its sides, compares as the integers do."""
    counter, bound = loop.variable.type, loop.bound.type
    common = common_type(counter, bound)
    if not (isinstance(common, Scalar) and isinstance(counter, Scalar) and isinstance(bound, Scalar)):
        return False
    if loop.relation == "!=":
        return False
    if common.kind == "signed":
        return True
    natural = (constant(loop.lower) or 0) >= 0 and constant(loop.lower) is not None and loop.step > 0
    return bound.kind != "signed" and (counter.kind != "signed" or natural)


def _distance(low: Expr, high: Expr, step: int, loop: For) -> Expr:
    """Return (high - low) / step + 1, written as the user's bound less the user's lower end where that is the same."""
    span = loop.span
    first, last = constant(low), constant(high)
    if first is not None and last is not None:
        return number(max(0, (last - first) // step + 1) if last >= first else 0, span)
    width = _difference(high, low)
    if step == 1:
        return width
    return binary("/", binary("+", wide(width), number(step - 1, span)), number(step, span))


def _difference(high: Expr, low: Expr) -> Expr:
    """Return high - low + 1, folding the ±1 that `counter_range` put there."""
    first = constant(low)
    base, plus = _split(high)
    if first is not None:
        return shift_expression(base, plus + 1 - first)
    other, less = _split(low)
    return shift_expression(binary("-", wide(base), wide(other)), plus + 1 - less)


def _split(expr: Expr) -> tuple[Expr, int]:
    """Return (e, c) with expr = e + c, looking into one 64-bit sum or difference with a literal."""
    if isinstance(expr, Binary) and expr.type == LONG_LONG and expr.op in ("+", "-"):
        value = constant(expr.right)
        if value is not None:
            inner = expr.left.operand if isinstance(expr.left, Cast) and expr.left.type == LONG_LONG else expr.left
            return inner, value if expr.op == "+" else -value
    return expr, 0


def guard(loop: For, mapped: Sequence[Symbol]) -> Expr:
    """Return the condition under which a thread with this counter runs the body; `mapped` are the outer counters."""
    counter = name(loop.variable, loop.span)
    relation = ("<" if loop.step > 0 else ">") if loop.relation == "!=" else loop.relation
    condition = binary(relation, counter, loop.bound, INT)
    if not any(n.symbol in mapped for n in names(loop.lower)):
        return condition
    started = binary(">=" if loop.step > 0 else "<=", counter, loop.lower, INT)
    return binary("&&", started, condition, INT)


def entry_condition(loop: For) -> Expr:
    """Return whether the loop runs at all, where it is reached."""
    return binary(loop.relation, loop.lower, loop.bound, INT)


def final_value(loop: For) -> Expr:
    """Return the value that the counter has after the loop, in the names that the loop uses and its counter's type."""
    lower, bound, step = loop.lower, loop.bound, abs(loop.step)
    first, last = constant(lower), constant(bound)
    closed = loop.relation in ("<=", ">=")
    after = _after(loop, closed, step)
    if first is not None and last is not None:
        runs = {"<": first < last, "<=": first <= last, ">": first > last, ">=": first >= last, "!=": first != last}
        value = constant(after) if runs[loop.relation] else first
        if value is not None:
            return number(value, loop.span)
    arms = [_convert_to_counter(arm, loop.variable) for arm in (after, lower)]
    return Conditional(
        span=loop.span, type=loop.variable.type, condition=entry_condition(loop), then=arms[0], other=arms[1]
    )


def _after(loop: For, closed: bool, step: int) -> Expr:
    """Return the counter's value after a loop that runs at least once."""
    up = loop.step > 0
    if step == 1 or loop.relation == "!=":
        return shift_expression(loop.bound, (1 if up else -1) if closed else 0)
    low, high = (loop.lower, loop.bound) if up else (loop.bound, loop.lower)
    way = binary("-", wide(high), wide(low))
    whole = number(step, loop.span)
    steps = binary("/", shift_expression(way, 0 if closed else step - 1), whole)
    return binary("+" if up else "-", wide(loop.lower), binary("*", shift_expression(steps, 1 if closed else 0), whole))


def _convert_to_counter(expr: Expr, counter: Symbol) -> Expr:
    if expr.type == counter.type or isinstance(expr, Literal):
        return expr
    return Cast(span=expr.span, type=counter.type, operand=expr)


def trip_count(loop: For, sizes: Mapping[str, int]) -> int | None:
    """Return how often the loop runs where its bounds are numbers, `sizes` giving the values of variables by name."""
    first, last = _value(loop.lower, sizes), _value(loop.bound, sizes)
    if first is None or last is None:
        return None
    way = (last - first) * (1 if loop.step > 0 else -1) + (1 if loop.relation in ("<=", ">=") else 0)
    return max(0, -(-way // abs(loop.step)))


def most_trips(loops: Sequence[For], sizes: Mapping[str, int]) -> tuple[int | None, ...]:
    """Return how many iterations of each loop of a nest, outermost first, a grid covers, where these are numbers."""
    ranges = launch_ranges(loops)
    return (None,) * len(loops) if ranges is None else tuple(_value(count, sizes) for _, count in ranges)


def _value(expr: Expr, sizes: Mapping[str, int]) -> int | None:
    match peel(expr):
        case Name(symbol=symbol):
            return sizes.get(symbol.name)
        case Binary(op="+" | "-" | "*" | "/" as op, left=left, right=right):
            a, b = _value(left, sizes), _value(right, sizes)
            if a is None or b is None or (op == "/" and b == 0):
                return None
            return {"+": a + b, "-": a - b, "*": a * b, "/": int(a / b) if b else 0}[op]
        case Cast(operand=operand):
            return _value(operand, sizes)
        case other:
            return constant(other)
