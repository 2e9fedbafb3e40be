"""Loop reversal: see Reverse.

    for (i = 0; i < n; i++)   →   if (0 < n) for (i = n - 1; i >= 0; i--)

Invariant: the counter takes the same values, the last one first. The test keeps n - 1 from being computed where it
could overflow; it is left out where the loops around, or the numbers, show that the loop runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct

from warpsmith.base.verdict import Unknown, Verdict
from warpsmith.loops.analysis.ends import fits
from warpsmith.loops.analysis.scopes import names_hold
from warpsmith.loops.analysis.shape import (
    does_not_fit,
    enclosing_facts,
    find_restraint,
    range_of,
    refuse_uncounted,
    unrepeatable,
)
from warpsmith.loops.linear import Linear, follows
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.writing.pieces import compare_copies, guard_run
from warpsmith.poly.analyze import Facts
from warpsmith.poly.legality.legality import keeps_order
from warpsmith.poly.legality.schedules import Schedule, counter
from warpsmith.tree.nodes import Expr, For, Relation, Stmt, replace
from warpsmith.tree.program import Program
from warpsmith.tree.types import Scalar

__all__ = ["Reverse"]


class Reverse(Struct, frozen=True):
    """Run a loop's iterations from the last to the first.

    Legal where the loop carries no dependence (Wolfe: High Performance Compilers for Parallel Computing, 9.3).

    Step: loop=f/i

    Before:
        void f(double *a)
        {
            for (int i = 0; i < 100; i++)
                a[i] = 2 * a[i];
        }

    After:
        void f(double *a)
        {
            for (int i = 99; i >= 0; i--)
                a[i] = 2 * a[i];
        }
    """

    name: ClassVar[str] = "reverse"
    loop: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Judge the opposite order."""
        place = LoopContext.of(program, self.loop)
        loop = place.loop
        if not isinstance(loop, For):
            return refuse_uncounted(loop)
        stop = find_restraint(facts, place.function, loop) or unrepeatable(facts, place.function, loop)
        if stop is not None:
            return stop
        new = _reverse_loop(loop, enclosing_facts(place.function, place.around))
        if isinstance(new, Unknown):
            return new
        schedules: dict[Stmt, Schedule] = {loop.body: (counter(loop.variable, -1 if loop.step > 0 else 1),)}
        verdict = keeps_order(facts, place.function, (loop,), schedules)
        return names_hold(self, program, self.loop, verdict)

    def apply(self, program: Program) -> Program:
        """Return the program with the loop turned around."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        new = _reverse_loop(loop, enclosing_facts(place.function, place.around))
        if isinstance(new, Unknown):
            raise ValueError(new.reasons[0].text)
        return with_run(program, place.function, (loop,), (new,))


def _reverse_loop(loop: For, facts: Sequence[Linear]) -> Stmt | Unknown:
    """Return the loop in the other direction, behind a test where it is not known to run."""
    values = range_of(loop)
    name = loop.variable.name
    counter = loop.variable.type
    if values is None or not isinstance(counter, Scalar) or counter.kind != "signed":
        return does_not_fit(f"the {name} loop does not count by one, in a signed type, between linear bounds", loop)
    runs = follows(values.past.minus(values.low).shift(-1), facts)
    start = values.past.shift(-1) if loop.step > 0 else values.low
    inside = (*facts, values.past.minus(values.low).shift(-1))
    before = values.low.shift(-1) if loop.step > 0 else values.past
    # The counter's value after the loop has to exist too.
    if not fits(start, counter, inside) or not fits(before, counter, inside):
        return does_not_fit(f"a value of {name} beside its range might overflow", loop)
    new = replace(loop, lower=_start(loop, start), relation=_relation(loop), bound=loop.lower, step=-loop.step)
    empty_too = runs or fits(start, counter, facts)
    return new if empty_too else guard_run(compare_copies(loop.lower, loop.relation, loop.bound), (new,))


def _start(loop: For, start: Linear) -> Expr:
    """Return the first value: the user's bound where that belongs to the range, else the value beside it."""
    return loop.bound if loop.relation in ("<=", ">=") else start.expr(loop.bound.span)


def _relation(loop: For) -> Relation:
    return ">=" if loop.step > 0 else "<="
