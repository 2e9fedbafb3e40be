"""Loop shifting: see Shift.

    for (i = 1; i < n; i++) S(i);   by=-1   for (long long i = 0; i < (long long)n - 1; i++) S(i + 1);

Invariant: the counter takes every old value plus `by`, and the body subtracts it again. Bounds that are not numbers
are shifted in long long, and so is the counter: an int could overflow where the old one did not.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from warpsmith.base.verdict import Proved, Unknown, Verdict
from warpsmith.loops.analysis.scopes import names_hold
from warpsmith.loops.analysis.shape import compares_plainly, does_not_fit, find_restraint, refuse_uncounted, wrong_value
from warpsmith.loops.analysis.substitute import replace_values
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.linear import Linear, use
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.writing.pieces import convert_to, plus, typed_number, unchangeable
from warpsmith.poly.analyze import Facts
from warpsmith.tree.nodes import Cast, Expr, For, replace
from warpsmith.tree.program import Program
from warpsmith.tree.types import INT, LONG_LONG, Scalar, Symbol, integer_range

__all__ = ["Shift"]

_MOST = 2**30


class Shift(Struct, frozen=True):
    """Number a loop's iterations anew: the counter is larger by `by`, and the body subtracts it.

    Always legal, as no iteration changes its place (index-set shifting; Wolfe: High Performance Compilers for Parallel
    Computing, 9.1).

    Step: loop=f/i by=-1

    Before:
        void f(double *a)
        {
            for (int i = 1; i <= 100; i++)
                a[i] = 2 * a[i];
        }

    After:
        void f(double *a)
        {
            for (int i = 0; i <= 99; i++)
                a[i + 1] = 2 * a[i + 1];
        }
    """

    name: ClassVar[str] = "shift"
    loop: str
    by: int

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the new values can be written."""
        place = LoopContext.of(program, self.loop)
        loop = place.loop
        if not isinstance(loop, For):
            return refuse_uncounted(loop)
        stop = find_restraint(facts, place.function, loop) or unchangeable(loop)
        stop = stop or self._misfit(loop)
        return stop or names_hold(self, program, self.loop, Proved())

    def apply(self, program: Program) -> Program:
        """Return the program with the counter shifted."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        lower, bound = self._end(loop.lower), self._end(loop.bound)
        counter = loop.variable
        if not self._in_own_type(loop):
            counter = Symbol(counter.name, Fresh.of(program).key(counter.key), LONG_LONG, "local", counter.span)
        old_value = convert_to(plus(use(counter, loop.header), -self.by), loop.variable.type)
        body = replace_values(loop.body, {loop.variable: old_value})
        new = replace(loop, variable=counter, lower=lower, bound=bound, body=body)
        return with_run(program, place.function, (loop,), (new,))

    def _misfit(self, loop: For) -> Unknown | None:
        name = loop.variable.name
        if self.by == 0 or abs(self.by) > _MOST:
            return wrong_value(f"by={self.by}: the counter is moved by 1 to {_MOST}, up or down", loop)
        if not compares_plainly(loop):
            return does_not_fit(f"the {name} loop does not run to its bound without conversions", loop)
        if self._in_own_type(loop):
            return None
        bits = [getattr(end.type, "bits", 64) for end in (loop.variable, loop.lower, loop.bound)]
        if max(bits) > INT.bits or not loop.declares:
            return does_not_fit(f"the shifted counter {name} might overflow", loop)
        return None

    def _in_own_type(self, loop: For) -> bool:
        """Whether both ends are numbers that the counter can hold once they are shifted, with a step to spare."""
        counter = loop.variable.type
        ends = [Linear.of(end) for end in (loop.lower, loop.bound)]
        if not isinstance(counter, Scalar):
            return False
        low, high = integer_range(counter)
        room = abs(loop.step)
        values = [None if end is None else end.number for end in ends]
        return all(v is not None and low + room <= v + self.by <= high - room for v in values)

    def _end(self, end: Expr) -> Expr:
        form = Linear.of(end)
        if form is not None and form.number is not None:
            return typed_number(form.number + self.by, end.type, end)
        return plus(Cast(span=end.span, type=LONG_LONG, operand=end), self.by)
