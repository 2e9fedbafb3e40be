"""Loop interchange: see Interchange.

    for (i = 0; i < n; i++)              for (j = 0; j < m; j++)              i and j with  i <= j:
        for (j = i; j < m; j++)     →        for (i = 0; i < n; i++)          j over all the values it takes for some i,
            S;                                   if (j >= i)                  i over those left for this j
                                                     S;

Invariant: the new nest runs its body for exactly the pairs (i, j) of the old one. Any order of a deeper nest is made by
exchanging neighbors; its legality is judged once, for the final order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct

from warpsmith.base.verdict import Unknown, Verdict
from warpsmith.loops.analysis.ends import form_expr, over
from warpsmith.loops.analysis.scopes import names_hold
from warpsmith.loops.analysis.shape import (
    CounterRange,
    does_not_fit,
    enclosing_facts,
    nest_in_the_way,
    perfect_nest,
    range_of,
    refuse_uncounted,
    wrong_value,
)
from warpsmith.loops.analysis.substitute import copy_tree
from warpsmith.loops.linear import Linear, follows, use
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.poly.analyze import Facts
from warpsmith.poly.legality.legality import keeps_order
from warpsmith.poly.legality.schedules import Schedule, counter
from warpsmith.tree.nodes import Binary, Expr, For, If, Node, Relation, Stmt, replace
from warpsmith.tree.program import Program
from warpsmith.tree.types import INT
from warpsmith.tree.walk import names, rebuild

__all__ = ["Interchange", "reorder_nest"]


class Interchange(Struct, frozen=True):
    """Swap a loop with the one directly inside it, or put the loops of a perfect nest in another order.

    Legal where every dependence keeps its direction (Allen, Kennedy: Optimizing Compilers for Modern Architectures,
    5.2). `order` names the counters of the nest from the outside inwards; left out, the two outermost loops change
    places. Inner bounds may depend on outer counters: the new bounds are exact, with a condition in the body where
    one expression cannot say them.

    Step: loop=f/i

    Before:
        void f(int n, int m, double a[n][m], double y[m])
        {
            for (int i = 0; i < n; i++)
                for (int j = i; j < m; j++)
                    y[j] += a[i][j];
        }

    After:
        void f(int n, int m, double a[n][m], double y[m])
        {
            for (int j = 0; j < m; j++)
                for (int i = 0; i < n; i++) {
                    if (j >= i)
                        y[j] += a[i][j];
                }
        }
    """

    name: ClassVar[str] = "interchange"
    loop: str
    order: tuple[str, ...] = ()

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Judge the new order."""
        place = LoopContext.of(program, self.loop)
        loop = place.loop
        if not isinstance(loop, For):
            return refuse_uncounted(loop)
        nest = self._nest(loop)
        if isinstance(nest, Unknown):
            return nest
        stop = nest_in_the_way(facts, place, nest, stays=self._positions(nest)[0] == 0)
        if stop is not None:
            return stop
        new = reorder_nest(nest, self._positions(nest), enclosing_facts(place.function, place.around))
        if isinstance(new, str):
            return does_not_fit(new, loop)
        rows = tuple(counter(nest[k].variable, 1 if nest[k].step > 0 else -1) for k in self._positions(nest))
        schedules: dict[Stmt, Schedule] = {nest[-1].body: rows}
        verdict = keeps_order(facts, place.function, (loop,), schedules)
        return names_hold(self, program, self.loop, verdict)

    def apply(self, program: Program) -> Program:
        """Return the program with the loops in the new order."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        nest = self._nest(loop)
        if isinstance(nest, Unknown):
            raise ValueError(nest.reasons[0].text)
        new = reorder_nest(nest, self._positions(nest), enclosing_facts(place.function, place.around))
        if isinstance(new, str):
            raise ValueError(new)
        return with_run(program, place.function, (loop,), (new,))

    def _nest(self, loop: For) -> tuple[For, ...] | Unknown:
        """Return the loops that change places."""
        nest = perfect_nest(loop)
        depth = len(self.order) or 2
        if len(nest) < depth:
            text = f"directly inside the {nest[-1].variable.name} loop stands no single counted loop"
            return does_not_fit(text, nest[-1], f"distribute={self.loop}")
        counters = [inner.variable.name for inner in nest[:depth]]
        if self.order and sorted(self.order) != sorted(counters):
            text = f"order={':'.join(self.order)} does not name the loops {', '.join(counters)}, each once"
            return wrong_value(text, loop, f"order={':'.join(reversed(counters))}")
        if len(set(counters)) < depth:
            return does_not_fit("two loops of the nest have the same counter", loop)
        return nest[:depth]

    def _positions(self, nest: Sequence[For]) -> tuple[int, ...]:
        counters = [loop.variable.name for loop in nest]
        return tuple(counters.index(name) for name in self.order) if self.order else (1, 0)


def reorder_nest(nest: Sequence[For], positions: Sequence[int], facts: Sequence[Linear]) -> For | str:
    """Return the nest with its loops in the order `positions` (old ones), or why its bounds cannot be written."""
    headers, guards, current = list(nest), [], list(range(len(nest)))
    target = {old: new for new, old in enumerate(positions)}
    known = list(facts)
    for _ in current:
        for k in range(len(current) - 1):
            if target[current[k]] < target[current[k + 1]]:
                continue
            swapped = _swap_headers(headers[k], headers[k + 1], [*known, *_ranges(headers[:k])])
            if isinstance(swapped, str):
                return swapped
            headers[k], headers[k + 1] = swapped[0], swapped[1]
            guards += swapped[2]
            current[k], current[k + 1] = current[k + 1], current[k]
    return _assemble_nest(nest, headers, guards)


def _ranges(headers: Sequence[For]) -> list[Linear]:
    """Return what the headers of enclosing loops of the nest tell; their bounds do not change in it."""
    rows: list[Linear] = []
    for header in headers:
        found = range_of(header)
        if found is not None:
            rows += _inside(header, found)
    return rows


def _inside(loop: For, values: CounterRange) -> list[Linear]:
    own = Linear(((loop.variable, 1),))
    return [own.minus(values.low), values.past.minus(own).shift(-1)]


def _swap_headers(outer: For, inner: For, facts: list[Linear]) -> tuple[For, For, list[Expr]] | str:
    """Return the headers of two neighbors after their exchange, outer first, and what the body has to test."""
    if not any(n.symbol == outer.variable for end in (inner.lower, inner.bound) for n in names(end)):
        return inner, outer, []
    first, second = range_of(outer), range_of(inner)
    if first is None or second is None:
        which = outer if first is None else inner
        return f"the {which.variable.name} loop, bounded by another counter or bounding one, has no linear unit range"
    hull = _hull(outer, first, second)
    new_outer = over(inner, second, hull, facts)
    if new_outer is None:
        return f"the bounds of the {inner.variable.name} loop outside of the {outer.variable.name} loop might overflow"
    inside = [*facts, *_inside(new_outer, hull)]
    wanted, guards = _narrow_range(outer, inner, (first, second), inside)
    new_inner = over(outer, first, wanted, inside)
    if new_inner is None:
        return new_outer, outer, [_lower_test(inner), _upper_test(inner)]
    return new_outer, new_inner, guards


def _hull(outer: For, first: CounterRange, second: CounterRange) -> CounterRange:
    """Return the values that the inner counter takes for some value of the outer one (or a few more)."""
    i = outer.variable
    last = first.past.shift(-1)
    low = second.low.with_value(i, first.low if second.low.coefficient(i) >= 0 else last)
    past = second.past.with_value(i, last if second.past.coefficient(i) >= 0 else first.low)
    # n for n - 1, which could wrap: the inner range, which depends on this counter, is empty in the turns added.
    if second.past.coefficient(i) and past.terms and past.constant < 0:
        past = Linear(past.terms, 0)
    return CounterRange(low, past)


def _narrow_range(
    outer: For, inner: For, ranges: tuple[CounterRange, CounterRange], facts: Sequence[Linear]
) -> tuple[CounterRange, list[Expr]]:
    """Return the outer counter's range for one value of the inner counter, and the tests that it does not say."""
    first, second = ranges
    i, j = outer.variable, Linear(((inner.variable, 1),))
    low, past, guards = first.low, first.past, []
    for end, below in ((second.low, True), (second.past, False)):
        factor = end.coefficient(i)
        if factor == 0:
            continue
        test = _lower_test(inner) if below == (inner.step > 0) else _upper_test(inner)
        # j >= i + b: i < j - b + 1.   j >= b - i: i >= b - j.   j < i + d: i >= j - d + 1.   j < d - i: i < d - j.
        rest = end.with_value(i, Linear())
        solved = j.minus(rest).shift(1) if factor == 1 else rest.minus(j)
        if abs(factor) != 1 or form_expr(solved, facts, outer.span) is None:
            guards.append(test)
        elif below == (factor == 1):
            past, guards = _tighter(past, solved, facts, (guards, test), up=False)
        else:
            low, guards = _tighter(low, solved, facts, (guards, test), up=True)
    return CounterRange(low, past), guards


def _tighter(
    own: Linear, new: Linear, facts: Sequence[Linear], tests: tuple[list[Expr], Expr], *, up: bool
) -> tuple[Linear, list[Expr]]:
    """Return the end that implies the other one, or the old end and a test for the new one."""
    guards, test = tests
    gap = new.minus(own) if up else own.minus(new)
    if follows(gap, facts):
        return new, guards
    return (own, guards) if follows(gap.scale(-1), facts) else (own, [*guards, test])


def _lower_test(loop: For) -> Expr:
    """Return whether the counter has reached the loop's first value."""
    return _test(loop, ">=" if loop.step > 0 else "<=", loop.lower)


def _upper_test(loop: For) -> Expr:
    """Return the loop's own condition."""
    return _test(loop, loop.relation, loop.bound)


def _test(loop: For, relation: Relation, end: Expr) -> Expr:
    own = use(loop.variable, loop.header)
    return Binary(span=loop.header, type=INT, op=relation, left=own, right=copy_tree(end))


def _assemble_nest(nest: Sequence[For], headers: Sequence[For], guards: list[Expr]) -> For:
    """Return the nest with other headers; blocks, comments and all else stay where they were."""
    body = nest[-1].body
    if guards:
        condition = guards[0]
        for guard in guards[1:]:
            condition = Binary(span=condition.span, type=INT, op="&&", left=condition, right=guard)
        body = If(span=body.span, condition=condition, then=body, other=None)
    for old, header in zip(reversed(nest), reversed(headers), strict=True):
        made = replace(
            old,
            variable=header.variable,
            declares=header.declares,
            lower=header.lower,
            relation=header.relation,
            bound=header.bound,
            step=header.step,
            body=body,
        )
        outside = next((n for n in nest if _directly_inside(n, old)), None)
        body = made if outside is None else _with_part(outside.body, old, made)
    if not isinstance(body, For):
        raise ValueError("the nest is not perfect")
    return body


def _directly_inside(outer: For, inner: For) -> bool:
    nest = perfect_nest(outer)
    return len(nest) > 1 and nest[1] is inner


def _with_part(body: Stmt, old: Stmt, new: Stmt) -> Stmt:
    def change(node: Node) -> Node:
        return new if node is old else node

    return rebuild(body, change)
