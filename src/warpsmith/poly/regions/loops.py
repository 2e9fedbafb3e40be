"""The iteration domain of one canonical loop, with the conditions under which its counter is a mathematical integer.

    for (v = low; v < high; v += s)      low <= v <= last = high - 1,   (v - low) mod s = 0

The counter takes the values low, low + s, …, and one past the last; the condition compares in the common type of
counter and bound. So all of [low, last + s] must lie in the range of the counter's type where that wraps (unsigned,
or narrower than int: signed overflow of int is undefined), and of the common type where that is unsigned. If this can
neither be proved nor guarded the counter may repeat a value: the loop is `broken`, its counter anything of its type.

Where a domain does not say all, data decide, or what was not understood:
    if (a[i] > 0) …        some data let it run, as far as this condition goes
    if (i * i % 7 == 3) …  there may be no i at all
"""

from __future__ import annotations

from msgspec import Struct

from warpsmith.poly.isl.formula import TRUE, Formula, at_least, both, equal
from warpsmith.poly.isl.polynomial import Polynomial, atom, constant
from warpsmith.poly.isl.room import CounterNest
from warpsmith.poly.regions.region import RunsWhen
from warpsmith.poly.regions.state import State
from warpsmith.tree.nodes import Binary, Call, Expr, For, Index, Member, Name, Unary, VerbatimExpr
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.types import INT, Scalar, common_type, integer_range
from warpsmith.tree.walk import peel, walk

__all__ = ["Bounds", "computed_bound", "loop_bounds", "loop_domain", "loop_runs", "read_condition"]


class Bounds(Struct, frozen=True):
    """First value and last admissible value of a counter (None: not affine); `broken`: why it may wrap, or ""."""

    first: Polynomial | None
    last: Polynomial | None
    broken: str


def loop_bounds(state: State, loop: For) -> Bounds:
    """Read the loop's header at the current point (before the loop)."""
    kind = loop.variable.type
    if not isinstance(kind, Scalar):
        return Bounds(None, None, "its counter is not an integer")
    shared = common_type(kind, loop.bound.type)
    first = state.affine.exact(loop.lower, kind)
    high = state.affine.exact(loop.bound, shared)
    first = None if first is None else state.vocabulary.linear(first)
    high = None if high is None else state.vocabulary.linear(high)
    up = loop.step > 0
    inside = {"<": -1, ">": 1, "!=": -1 if up else 1}.get(loop.relation, 0)
    last = None if high is None else high.shift(inside)
    limits = _limits(kind, shared)
    if limits is None:
        return Bounds(first, last, "")
    if first is None or last is None:
        safe = _safe_by_type(loop, kind, shared, limits)
        return Bounds(first, last, "" if safe else f"its counter {loop.variable.name} may wrap around")
    return Bounds(first, last, _wrap_check(state, loop, (first, last), limits))


def _limits(kind: Scalar, shared: object) -> tuple[int, int] | None:
    """Return the range that every value of the counter must keep to, or None where overflow is undefined anyway."""
    wraps = kind.kind != "signed" or kind.bits < INT.bits
    mixed = isinstance(shared, Scalar) and shared.kind == "unsigned" and kind.kind == "signed"
    if not wraps and not mixed:
        return None
    low, high = integer_range(kind)
    if mixed:
        low = 0
    return low, high


def _safe_by_type(loop: For, kind: Scalar, shared: object, limits: tuple[int, int]) -> bool:
    """Whether `v < bound` counting up by one cannot wrap, whatever the bound: the bound's type is no wider."""
    bound = loop.bound.type
    if not isinstance(bound, Scalar) or not isinstance(shared, Scalar) or kind.kind == "signed":
        return False
    return loop.relation == "<" and loop.step == 1 and integer_range(bound)[1] <= limits[1] and bound.bits == kind.bits


def _wrap_check(state: State, loop: For, ends: tuple[Polynomial, Polynomial], limits: tuple[int, int]) -> str:
    first, last = ends
    low, high = limits
    up = loop.step > 0
    past = last.shift(loop.step)
    runs = at_least(last, first) if up else at_least(first, last)
    name = loop.variable.name
    if loop.relation == "!=":
        reached = last.shift(1 if up else -1)
        meets = state.require((reached - first if up else first - reached,), loop.bound)
        if abs(loop.step) != 1 or not meets:
            return f"its counter {name} may pass its bound and wrap around"
    start = (first.shift(-low), constant(high) - first)
    end = (constant(high) - past,) if up else (past.shift(-low),)
    # where it wraps around the loop does not end: no program means that
    path = both(state.path)
    kept = state.require_on(path, start, show_expression(loop.lower), declared=True)
    kept = kept and state.require_on(both((path, runs)), end, f"{name} in its loop", declared=True)
    return "" if kept else f"its counter {name} may wrap around"


def loop_domain(state: State, loop: For, counter: str, bounds: Bounds) -> tuple[Formula, bool]:
    """Return the constraints on the counter and whether they are exact."""
    if bounds.broken:
        return TRUE, False
    value = atom(counter)
    up = loop.step > 0
    around = (*(name for _, name in state.outer), *state.counters)
    state.nests[counter] = CounterNest(around, loop.step)
    state.limits[counter] = (bounds.first, bounds.last) if up else (bounds.last, bounds.first)
    parts: list[Formula] = []
    # a bound that is only bounded itself says next to nothing, and that in many words
    if bounds.first is not None:
        parts.append(at_least(value, bounds.first) if up else at_least(bounds.first, value))
    if bounds.last is not None and not state.vocabulary.images(bounds.last.atoms()):
        parts.append(at_least(bounds.last, value) if up else at_least(value, bounds.last))
    if abs(loop.step) > 1 and bounds.first is not None:
        distance = value - bounds.first if up else bounds.first - value
        count = state.affine.quotient(distance, abs(loop.step), floor=True)
        if count is not None:
            parts.append(equal(distance, count.scale(abs(loop.step))))
    domain, ends = both(parts), (bounds.first, bounds.last)
    exact = all(end is not None and not state.vocabulary.images(end.atoms()) for end in ends)
    return domain, exact


def computed_bound(loop: For, bounds: Bounds) -> Formula:
    """Return what the program must fulfil to have computed the loop's bound: a signed sum that overflows is undefined
    (C17 6.5p5), so that `n + 2` as a bound says n <= INT_MAX - 2."""
    kind, bound = loop.variable.type, loop.bound.type
    if bounds.last is None or not isinstance(bound, Scalar) or not isinstance(kind, Scalar):
        return TRUE
    if {kind.kind, bound.kind} != {"signed"} or not isinstance(peel(loop.bound), Binary):
        return TRUE
    inside = {"<": -1, ">": 1, "!=": -1 if loop.step > 0 else 1}.get(loop.relation, 0)
    high = bounds.last.shift(-inside)
    low, top = integer_range(bound)
    return both((at_least(high, constant(low)), at_least(constant(top), high)))


def read_condition(state: State, condition: Expr, *, holds: bool = True) -> tuple[Formula, RunsWhen]:
    """Return a formula implied by a condition that holds (or does not), and what else decides whether that is so."""
    formula, faithful = state.affine.faithful_condition(condition, holds)
    if faithful:
        return formula, RunsWhen.ALWAYS
    on_data = all(_is_on_data(state, part) for part in state.affine.unread(condition))
    return formula, RunsWhen.ON_DATA if on_data else RunsWhen.UNKNOWN


def loop_runs(state: State, loop: For, bounds: Bounds, *, certain: bool) -> RunsWhen:
    """Return what decides which iterations a loop makes besides the domain of its bounds; `certain`: nothing."""
    if certain:
        return RunsWhen.ALWAYS
    ends = [end for end, value in ((loop.lower, bounds.first), (loop.bound, bounds.last)) if value is None]
    on_data = bool(ends) and not bounds.broken and all(_is_on_data(state, end) for end in ends)
    return RunsWhen.ON_DATA if on_data else RunsWhen.UNKNOWN


def _is_on_data(state: State, expr: Expr) -> bool:
    """Whether an expression reads memory, or a variable of which no value is known."""
    return any(
        isinstance(n, Index | Member | Call | VerbatimExpr)
        or (isinstance(n, Unary) and n.op == "*")
        or (isinstance(n, Name) and isinstance(n.type, Scalar) and state.scalar(n) is None)
        for n in walk(expr)
    )
