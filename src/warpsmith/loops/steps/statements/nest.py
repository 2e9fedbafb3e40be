"""Nesting: see Nest.

    for (i) { S; for (j = 0; j < m; j++) T; U; }    →    for (i) for (j) { if (j == 0) S; T; if (j == m - 1) U; }

Invariant: in every turn of the outer loop the inner one runs at least once, which the conditions of the loops around
show; so S runs once, before the first T, and U once, behind the last one. Nothing changes its order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct

from warpsmith.base.verdict import Proved, Unknown, Verdict
from warpsmith.loops.analysis.ends import form_expr
from warpsmith.loops.analysis.scopes import names_hold
from warpsmith.loops.analysis.shape import (
    does_not_fit,
    enclosing_facts,
    find_marked,
    jump,
    movable_bounds,
    range_of,
    refuse_uncounted,
    statements,
    steady,
)
from warpsmith.loops.fresh import declared_symbols
from warpsmith.loops.linear import Linear, follows, use
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.writing.pieces import compare_copies, guard_run
from warpsmith.poly.analyze import Facts
from warpsmith.tree.nodes import Block, DeclStmt, Empty, Expr, For, Pragma, Stmt, replace
from warpsmith.tree.program import Program
from warpsmith.tree.walk import names

__all__ = ["Nest"]


class Nest(Struct, frozen=True):
    """Make a perfect nest: move the statements beside the inner loop into it, under a test of its first or last turn.

    Always legal where the inner loop surely runs, as no statement changes its place (code sinking; Wolfe: High
    Performance Compilers for Parallel Computing, 9.9).

    Step: loop=f/i

    Before:
        void f(int n, double a[n][n], double *restrict y)
        {
            for (int i = 0; i < n; i++) {
                y[i] = 0;
                for (int j = 0; j < n; j++)
                    y[i] += a[i][j];
            }
        }

    After:
        void f(int n, double a[n][n], double *restrict y)
        {
            for (int i = 0; i < n; i++) {
                for (int j = 0; j < n; j++) {
                    if (j == 0)
                        y[i] = 0;
                    y[i] += a[i][j];
                }
            }
        }
    """

    name: ClassVar[str] = "nest"
    loop: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the statements can be moved into the inner loop."""
        place = LoopContext.of(program, self.loop)
        loop = place.loop
        if not isinstance(loop, For):
            return refuse_uncounted(loop)
        parts = _parts(loop)
        if isinstance(parts, Unknown):
            return parts
        before, inner, after = parts
        if not before and not after:
            return does_not_fit(f"the {loop.variable.name} loop is nested perfectly already", loop)
        stop = _in_the_way(facts, place, loop, inner) or _ends(place, loop, inner, bool(after), self.loop)
        return stop or names_hold(self, program, self.loop, Proved())

    def apply(self, program: Program) -> Program:
        """Return the program with a perfect nest."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        parts = _parts(loop)
        if isinstance(parts, Unknown) or not isinstance(loop.body, Block):
            raise ValueError("the loop has no inner loop to make a nest with")
        before, inner, after = parts
        facts = enclosing_facts(place.function, place.around, (loop, inner))
        inside: list[Stmt] = []
        if before:
            inside.append(guard_run(compare_copies(use(inner.variable, inner.header), "==", inner.lower), before))
        inside += statements(inner.body)
        if after:
            inside.append(
                guard_run(compare_copies(use(inner.variable, inner.header), "==", _last(inner, facts)), after)
            )
        body = replace(inner.body, statements=tuple(inside)) if isinstance(inner.body, Block) else None
        new = replace(inner, body=body or Block(span=inner.body.span, statements=tuple(inside)))
        kept = [new if s is inner else s for s in loop.body.statements if s is inner or isinstance(s, Pragma | Empty)]
        made = replace(loop, body=replace(loop.body, statements=tuple(kept)))
        return with_run(program, place.function, (loop,), (made,))


Parts = tuple[tuple[Stmt, ...], For, tuple[Stmt, ...]]


def _parts(loop: For) -> Parts | Unknown:
    """Return the statements before the inner loop, the loop, and those behind it."""
    name = loop.variable.name
    inside = [s for s in statements(loop.body) if not isinstance(s, Empty | Pragma)]
    inner = [s for s in inside if isinstance(s, For)]
    if len(inner) != 1:
        text = f"in the {name} loop stand {len(inner)} counted loops, not one"
        return does_not_fit(text, loop)
    declared = next((s for s in inside if isinstance(s, DeclStmt)), None)
    if declared is not None:
        variable = declared.declarations[0].symbol.name
        return does_not_fit(
            f"{variable} is declared between the loops", declared, f"move the declaration of {variable} out of the loop"
        )
    position = inside.index(inner[0])
    return tuple(inside[:position]), inner[0], tuple(inside[position + 1 :])


def _in_the_way(facts: Facts, place: LoopContext, loop: For, inner: For) -> Unknown | None:
    """Return what forbids to test the inner counter where the statements shall stand, or None."""
    pragma = find_marked(place.function, loop)
    if pragma is not None:
        return does_not_fit("a pragma tells the compiler about this loop", pragma, "remove the pragma")
    left = jump(loop.body) or jump(inner.body)
    if left is not None:
        return does_not_fit("an iteration may be left early", left)
    name = inner.variable.name
    part = movable_bounds(inner)
    if part is not None:
        return does_not_fit(f"a bound of the {name} loop is more than numbers and plain variables", part)
    counters = frozenset({loop.variable, inner.variable})
    if any(not steady(facts, place.function, end, loop, counters) for end in (inner.lower, inner.bound)):
        return does_not_fit(f"the {loop.variable.name} loop changes a bound of the {name} loop", inner)
    beside = [s for s in statements(loop.body) if s is not inner]
    used = {n.symbol for s in beside for n in names(s)}
    if inner.variable in used or inner.variable in facts.origin(place.function).hidden:
        return does_not_fit(f"a statement beside the {name} loop uses {name}", inner)
    clash = {s.name for s in declared_symbols(inner.body)} & {symbol.name for symbol in used}
    if clash:
        return does_not_fit(f"{min(clash)} names another variable inside the {name} loop", inner)
    return None


def _ends(place: LoopContext, loop: For, inner: For, behind: bool, address: str) -> Unknown | None:
    """Return why the first and last turn of the inner loop are not known, or None."""
    name = inner.variable.name
    values = range_of(inner)
    if values is None:
        return does_not_fit(f"the {name} loop does not count by one between linear bounds", inner)
    facts = enclosing_facts(place.function, place.around, (loop,))
    if not follows(values.past.minus(values.low).shift(-1), facts):
        return does_not_fit(f"the {name} loop may not run at all", inner, f"distribute={address}")
    if behind and _last_form(inner, enclosing_facts(place.function, place.around, (loop, inner))) is None:
        return does_not_fit(f"the last value of {name} might overflow", inner, f"distribute={address}")
    return None


def _last_form(inner: For, facts: Sequence[Linear]) -> Expr | None:
    values = range_of(inner)
    if values is None:
        return None
    last = values.past.shift(-1) if inner.step > 0 else values.low
    return form_expr(last, facts, inner.header)


def _last(inner: For, facts: Sequence[Linear]) -> Expr:
    """Return the inner counter's last value."""
    made = _last_form(inner, facts)
    if made is None:
        raise ValueError("the last value is not known")
    return made
