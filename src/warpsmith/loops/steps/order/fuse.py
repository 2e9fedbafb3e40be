"""Loop fusion: see Fuse.

    for (i) S(i);  for (j) T(j);    →    for (i) { S(i); T(i); }

Invariant: both loops run over the same values, which the form of their bounds shows; neither loop changes any of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.base.verdict import Unknown, Verdict
from warpsmith.loops.analysis.scopes import names_hold
from warpsmith.loops.analysis.shape import (
    does_not_fit,
    find_restraint,
    following,
    range_of,
    refuse_uncounted,
    statements,
    steady,
    unrepeatable,
)
from warpsmith.loops.analysis.substitute import fixed_text, replace_values
from warpsmith.loops.linear import Linear, use
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.poly.analyze import Facts
from warpsmith.poly.legality.legality import keeps_order
from warpsmith.poly.legality.schedules import Schedule, at, counter
from warpsmith.tree.nodes import Block, DeclStmt, Empty, Expr, For, Function, Node, Stmt, replace
from warpsmith.tree.program import Program
from warpsmith.tree.text.lexical import identifiers
from warpsmith.tree.walk import names, same, walk

__all__ = ["Fuse"]


class Fuse(Struct, frozen=True):
    """Make one loop of a loop and the one directly behind it, which runs over the same range.

    Legal where no iteration of the second loop needs a later one of the first (Allen, Kennedy: Optimizing Compilers for
    Modern Architectures, 6.2.5). The counter keeps the first loop's name.

    Step: loop=f/i

    Before:
        void f(int n, double *restrict a, double *restrict b)
        {
            for (int i = 0; i < n; i++)
                a[i] = 2 * a[i];
            for (int j = 0; j < n; j++)
                b[j] = a[j] + 1;
        }

    After:
        void f(int n, double *restrict a, double *restrict b)
        {
            for (int i = 0; i < n; i++) {
                a[i] = 2 * a[i];
                b[i] = a[i] + 1;
            }
        }
    """

    name: ClassVar[str] = "fuse"
    loop: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Judge the joined order."""
        place = LoopContext.of(program, self.loop)
        loop = place.loop
        if not isinstance(loop, For):
            return refuse_uncounted(loop)
        second = following(place.function, loop)
        if not isinstance(second, For):
            return does_not_fit(f"no counted loop stands directly behind the {loop.variable.name} loop", loop)
        stop = _in_the_way(facts, place.function, loop, second)
        if stop is not None:
            return stop
        run = _run(place.function, loop, second)
        if run is None:
            return does_not_fit("the two loops do not stand in one block", loop)
        sign = 1 if loop.step > 0 else -1
        schedules: dict[Stmt, Schedule] = {}
        for position, part in enumerate((loop, second)):
            schedules[part.body] = (counter(part.variable, sign), at(position))
        verdict = keeps_order(facts, place.function, run, schedules)
        return names_hold(self, program, self.loop, verdict)

    def apply(self, program: Program) -> Program:
        """Return the program with one loop."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        second = following(place.function, loop)
        run = _run(place.function, loop, second) if isinstance(second, For) else None
        if run is None or not isinstance(second, For):
            raise ValueError("there is no second loop")
        return with_run(program, place.function, run, (_fuse_bodies(loop, second),))


def _run(function: Function, loop: For, second: For) -> tuple[Stmt, ...] | None:
    """Return the statements of the block from the first to the second loop."""
    for node in walk(function.body):
        inside: Sequence[Node] = getattr(node, "statements", ()) or getattr(node, "body", ())
        if isinstance(inside, tuple) and any(part is loop for part in inside):
            first = next(k for k, part in enumerate(inside) if part is loop)
            last = next((k for k, part in enumerate(inside) if part is second), None)
            return None if last is None else inside[first : last + 1]
    return None


def _in_the_way(facts: Facts, function: Function, loop: For, second: For) -> Unknown | None:
    for part in (loop, second):
        stop = find_restraint(facts, function, part) or unrepeatable(facts, function, part)
        if stop is not None:
            return stop
    if not _same_range(loop, second):
        names_of = f"the {loop.variable.name} loop and the {second.variable.name} loop behind it"
        return does_not_fit(f"{names_of} do not have the same range", second)
    for end in (second.lower, second.bound):
        # Behind the first loop the ends mean what they mean in front of it only if that loop does not change them.
        if not steady(facts, function, end, loop) or not steady(facts, function, end, second):
            return does_not_fit("a loop changes the range of the other one", end)
    if loop.variable == second.variable:
        return None
    fixed = fixed_text(second.body, frozenset({second.variable}))
    if fixed is not None:
        return does_not_fit(f"{second.variable.name} stands in a text that cannot be rewritten", fixed)
    if any(n.symbol == loop.variable for n in names(second)):
        return does_not_fit(f"the second loop reads {loop.variable.name}, the counter of the first", second)
    return None


def _same_range(loop: For, second: For) -> bool:
    """Whether both counters take the same values in the same order."""
    if loop.variable.type != second.variable.type or loop.step != second.step:
        return False
    one, other = range_of(loop), range_of(second)
    if one is not None and other is not None:
        return one == other
    return loop.relation == second.relation and all(
        _same_value(a, b) for a, b in ((loop.lower, second.lower), (loop.bound, second.bound))
    )


def _same_value(a: Expr, b: Expr) -> bool:
    one, other = Linear.of(a), Linear.of(b)
    return a.type == b.type and (same(a, b) or (one is not None and one == other))


def _fuse_bodies(loop: For, second: For) -> For:
    """Return the first loop with the body of the second behind its own."""
    body = second.body
    if second.variable != loop.variable:
        body = replace_values(body, {second.variable: use(loop.variable, second.header)})
    parts = [*_parts(loop.body, body), *_parts(body, loop.body)]
    start, end = loop.body.span, second.body.span
    if isinstance(loop.body, Block):
        return replace(loop, body=replace(loop.body, statements=tuple(parts)))
    return replace(loop, body=Block(span=Span(start.file, start.start, end.end), statements=tuple(parts)))


def _parts(body: Stmt, other: Stmt) -> tuple[Stmt, ...]:
    """Return the statements of a body; as one block where what it declares could be taken for another's variable."""
    parts = statements(body)
    declared = {d.symbol.name for s in parts if isinstance(s, DeclStmt) for d in s.declarations}
    if declared & (identifiers(other.span.text) | {n.symbol.name for n in names(other)}) and isinstance(body, Block):
        return (replace(body),)
    return tuple(s for s in parts if not isinstance(s, Empty))
