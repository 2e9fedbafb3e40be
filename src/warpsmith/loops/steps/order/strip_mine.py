"""Strip mining: see StripMine.

    for (i = 0; i < n; i++)   →   for (ii = 0; ii < n; ii += 32)
                                      for (i = ii; i < (n - ii > 32 ? ii + 32 : n); i++)

Invariant: the two loops together run the body for the values of the old loop, in the old order. The strip counter is a
long long where the counter has at most 32 bits, so it cannot overflow; a wider counter must start at a number, then a
range that ends within a strip of its type's last value would take ages to run through.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from warpsmith.base.verdict import Proved, Unknown, Verdict
from warpsmith.loops.analysis.scopes import names_hold
from warpsmith.loops.analysis.shape import (
    compares_plainly,
    does_not_fit,
    find_restraint,
    refuse_uncounted,
    trip_count,
    unrepeatable,
    wrong_value,
)
from warpsmith.loops.analysis.substitute import copy_tree
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.linear import Linear, number, use
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.writing.pieces import choice, compare_copies, plus
from warpsmith.poly.analyze import Facts
from warpsmith.tree.nodes import Binary, Expr, For, replace
from warpsmith.tree.program import Program
from warpsmith.tree.types import INT, LONG_LONG, Scalar, Symbol, Type, common_type, integer_range

__all__ = ["StripMine", "strip_counter", "strip_loop", "strip_stop"]

_MOST = 2**20


class StripMine(Struct, frozen=True):
    """Cut a loop into strips of `size` iterations: a loop over the strips around a loop over one of them.

    Always legal, as no iteration changes its place (Wolfe: High Performance Compilers for Parallel Computing, 9.4).

    Step: loop=f/i size=32

    Before:
        void f(int n, double *a)
        {
            for (int i = 0; i < n; i++)
                a[i] = 2 * a[i];
        }

    After:
        void f(int n, double *a)
        {
            for (long long ii = 0; ii < n; ii += 32) {
                for (int i = ii; i < (n - ii > 32 ? ii + 32 : n); i++)
                    a[i] = 2 * a[i];
            }
        }
    """

    name: ClassVar[str] = "strip-mine"
    loop: str
    size: int

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the strips can be written."""
        place = LoopContext.of(program, self.loop)
        loop = place.loop
        if not isinstance(loop, For):
            return refuse_uncounted(loop)
        stop = find_restraint(facts, place.function, loop) or unrepeatable(facts, place.function, loop)
        stop = stop or strip_stop(loop, self.size, f"size={self.size}")
        return stop or names_hold(self, program, self.loop, Proved())

    def apply(self, program: Program) -> Program:
        """Return the program with the loop in strips."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        strip = strip_counter(loop, self.size, Fresh.of(program))
        outer, inner = strip_loop(loop, self.size, strip)
        return with_run(program, place.function, (loop,), (replace(outer, body=inner),))


def strip_stop(loop: For, size: int, given: str) -> Unknown | None:
    """Return why strips of `size` iterations cannot be written, or None."""
    if not 1 < size <= _MOST:
        return wrong_value(f"{given}: a strip has 2 to {_MOST} iterations", loop)
    counter = loop.variable.type
    if loop.relation == "!=" or not compares_plainly(loop) or not isinstance(counter, Scalar):
        name = loop.variable.name
        return does_not_fit(f"the {name} loop does not run up to its bound, or down, without conversions", loop)
    lower = Linear.of(loop.lower)
    start = None if lower is None else lower.number
    if counter.bits > INT.bits and (start is None or not 0 <= start < 2**31 or loop.step < 0):
        return does_not_fit(f"the counter of the strips of {loop.variable.name} might overflow", loop)
    return None


def strip_counter(loop: For, size: int, fresh: Fresh) -> Symbol:
    """Return a new variable for the first value of a strip."""
    name = loop.variable.name
    wanted = name * 2 if len(name) == 1 else f"{name}_strip"
    return fresh.variable(wanted, _strip_type(loop, size), loop.variable)


def _strip_type(loop: For, size: int) -> Type:
    counter, bound = loop.variable.type, Linear.of(loop.bound)
    if not isinstance(counter, Scalar) or counter.bits > INT.bits:
        return counter
    end = None if bound is None else bound.number
    last = None if end is None else end + (size + 1) * loop.step
    low, high = integer_range(counter)
    return counter if last is not None and low <= last <= high else LONG_LONG


def strip_loop(loop: For, size: int, strip: Symbol) -> tuple[For, For]:
    """Return the loop over the strips, its body still to be set, and the loop over one strip."""
    width = size * abs(loop.step)
    first = use(strip, loop.header)
    outer = replace(loop, variable=strip, declares=True, step=size * loop.step)
    inner = replace(
        loop,
        span=loop.body.span,
        lower=first,
        bound=_strip_end(loop, size, width, strip),
    )
    if not loop.declares:
        return outer, inner
    return replace(outer, lower=copy_tree(loop.lower), bound=copy_tree(loop.bound)), inner


def _strip_end(loop: For, size: int, width: int, strip: Symbol) -> Expr:
    """Return the bound of the loop over one strip, in the loop's own relation."""
    span = loop.header
    up = loop.step > 0
    closed = loop.relation in ("<=", ">=")
    reach = width - 1 if closed else width
    end = plus(use(strip, span), reach if up else -reach)
    trips = trip_count(loop)
    if trips is not None and trips % size == 0:
        return end
    left, right = (loop.bound, use(strip, span)) if up else (use(strip, span), loop.bound)
    shared = common_type(left.type, right.type)
    distance = Binary(span=span, type=shared, op="-", left=copy_tree(left), right=copy_tree(right))
    return choice(compare_copies(distance, ">", number(reach, span)), end, loop.bound)
