"""Index-set splitting: see Split.

    for (i = 0; i < n; i++)      for (i = 0; i < k; i++) S(i);  S(k);  for (i = k + 1; i < n; i++) S(i);

Invariant: the pieces run the body for the values of the old loop, in the old order, wherever the value of `at` lies. A
bound is clamped, or a piece tested, only where the loops around do not show that it need not be.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from warpsmith.base.verdict import Proved, Unknown, Verdict
from warpsmith.loops.analysis.ends import fits, form_expr
from warpsmith.loops.analysis.expression import parse, visible
from warpsmith.loops.analysis.scopes import names_hold
from warpsmith.loops.analysis.shape import (
    CounterRange,
    does_not_fit,
    enclosing_facts,
    find_restraint,
    range_of,
    refuse_uncounted,
    steady,
    unrepeatable,
    wrong_value,
)
from warpsmith.loops.analysis.substitute import copy_tree
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.linear import Linear, follows
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.writing.pieces import (
    choice,
    compare_copies,
    conjunction,
    convert_to,
    guard_run,
    instance,
    once_more,
    plus,
    unchangeable,
)
from warpsmith.poly.analyze import Facts
from warpsmith.tree.nodes import Expr, For, Stmt, replace
from warpsmith.tree.program import Program

__all__ = ["Split"]


class Split(Struct, frozen=True):
    """Cut a loop's range in two at a value, or take the iteration with that value out of it.

    Always legal, as every iteration keeps its place (index-set splitting; Wolfe: High Performance Compilers for
    Parallel Computing, 9.1). `at` is an expression of variables that the loop does not change, integers, + - * and
    parentheses. With `single` the iteration `at` stands by itself between the two loops.

    Step: loop=f/k/i at=k single=true

    Before:
        void f(int n, double a[n][n])
        {
            for (int k = 0; k < n; k++)
                for (int i = 0; i < n; i++)
                    a[i][0] = a[k][0] + i;
        }

    After:
        void f(int n, double a[n][n])
        {
            for (int k = 0; k < n; k++) {
                for (int i = 0; i < k; i++)
                    a[i][0] = a[k][0] + i;
                a[k][0] = a[k][0] + k;
                for (int i = k + 1; i < n; i++)
                    a[i][0] = a[k][0] + i;
            }
        }
    """

    name: ClassVar[str] = "split"
    loop: str
    at: str
    single: bool = False

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the loop can be cut there."""
        place = LoopContext.of(program, self.loop)
        loop = place.loop
        if not isinstance(loop, For):
            return refuse_uncounted(loop)
        stop = find_restraint(facts, place.function, loop) or unrepeatable(facts, place.function, loop)
        stop = stop or unchangeable(loop)
        if stop is not None:
            return stop
        cut = self._cut(place)
        if isinstance(cut, Unknown):
            return cut
        if not steady(facts, place.function, cut.expr, loop) or cut.at.symbols & facts.origin(place.function).hidden:
            return wrong_value(f"at={self.at}: the loop may change it", loop)
        return names_hold(self, program, self.loop, Proved())

    def apply(self, program: Program) -> Program:
        """Return the program with the loop cut."""
        place = LoopContext.of(program, self.loop)
        cut = self._cut(place)
        if isinstance(cut, Unknown):
            raise ValueError(cut.reasons[0].text)
        fresh = Fresh.of(program)
        new = cut.with_single(fresh) if self.single else cut.in_two(fresh)
        return with_run(program, place.function, (place.loop,), new)

    def _cut(self, place: LoopContext) -> _Cut | Unknown:
        loop = place.require_counted()
        values = range_of(loop)
        if values is None or loop.step != 1:
            return does_not_fit(f"the {loop.variable.name} loop does not count up by one between linear bounds", loop)
        parsed = parse(self.at, visible(place.function, loop), loop.header)
        if isinstance(parsed, str):
            return wrong_value(f"at={self.at}: {parsed}", loop)
        at = Linear.of(parsed)
        if at is None or loop.variable in at.symbols:
            return wrong_value(f"at={self.at}: it is not a linear expression of other variables", loop)
        facts = enclosing_facts(place.function, place.around)
        expr = form_expr(at, facts, loop.header)
        if expr is None or not fits(at, loop.variable.type, facts):
            return wrong_value(f"at={self.at}: it may not be a value of the counter {loop.variable.name}", loop)
        low, past = values.low, values.past
        below, above = follows(at.minus(low), facts), follows(past.minus(at), facts)
        expr = convert_to(expr, loop.variable.type)
        return _Cut(loop, values, at, expr, below, above, follows(past.minus(at).shift(-1), facts))


class _Cut(Struct, frozen=True):
    """`reached`: at >= low is shown; `within`: at <= past is; `before_end`: at < past is."""

    loop: For
    range: CounterRange
    at: Linear
    expr: Expr
    reached: bool
    within: bool
    before_end: bool

    def in_two(self, fresh: Fresh) -> tuple[Stmt, ...]:
        """Return the loops below and from `at` on."""
        start = copy_tree(self.expr) if self.reached else self._clamp_value(self.expr)
        return self._below(), replace(once_more(self.loop, fresh), lower=start)

    def with_single(self, fresh: Fresh) -> tuple[Stmt, ...]:
        """Return the loop below `at`, the iteration `at`, and the loop above it."""
        loop = self.loop
        tests = [] if self.reached else [compare_copies(loop.lower, "<=", self.expr)]
        tests += [] if self.before_end else [compare_copies(self.expr, loop.relation, loop.bound)]
        run = instance(loop, convert_to(self.expr, loop.variable.type), fresh)
        middle = run if not tests else (guard_run(conjunction(tests), run),)
        next_value = self.at.shift(1).expr(loop.header)
        if not self.before_end:
            # at + 1 is computed only where at is below the bound, and cannot overflow there.
            next_value = choice(compare_copies(self.expr, loop.relation, loop.bound), next_value, self._bound_value())
        start = next_value if self.reached else self._clamp_value(next_value)
        return self._below(), *middle, replace(once_more(loop, fresh), lower=start)

    def _below(self) -> For:
        """Return the loop up to `at`; it keeps the place and the names of the user's loop."""
        loop = self.loop
        if self.within:
            return replace(loop, relation="<", bound=copy_tree(self.expr))
        # Past the bound one more than it cannot overflow: `at` is larger still.
        end = choice(compare_copies(self.expr, loop.relation, loop.bound), self.expr, self._bound_value())
        return replace(loop, relation="<", bound=end)

    def _bound_value(self) -> Expr:
        """Return a first value with which the loop does not run: its bound, or one past it."""
        loop = self.loop
        return loop.bound if loop.relation == "<" else plus(loop.bound, 1)

    def _clamp_value(self, value: Expr) -> Expr:
        """Return `value`, or the first value of the range where `at` lies below it."""
        return choice(compare_copies(self.expr, "<", self.loop.lower), self.loop.lower, value)
