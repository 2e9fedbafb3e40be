"""What the last iteration that has a reason to leaves in variables: see FindLast.

    for (i = 0; i < n; i++)        i_last: the largest i with x[i] < 0
        if (x[i] < 0)         →    if there is one: last = x[i_last]
            last = x[i];

Invariant: what the branch sets depends on its iteration alone, so of all executions only the last one shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct

from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.loops.analysis.shape import does_not_fit, find_marked
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.writing.chosen import ChosenForm, can_number, find_chosen, write_chosen
from warpsmith.poly.analyze import Facts
from warpsmith.poly.dependences.iteration_values import only_computes
from warpsmith.poly.dependences.updates import has_effect
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.tree.nodes import Assign, Call, Expr, ExprStmt, For, Name, Stmt
from warpsmith.tree.program import Program
from warpsmith.tree.types import Pointer, Scalar, Symbol, Type
from warpsmith.tree.walk import names, peel, walk

__all__ = ["FindLast"]


class FindLast(Struct, frozen=True):
    """Find the last iteration in which a loop's condition holds, and do there what the loop does.

    Legal where the loop only sets variables, under one condition, to what depends on the iteration alone. The search is
    a maximum, whose order is free.

    Step: loop=f/i

    Before:
        int f(int n, const int *x)
        {
            int last = 0;
            for (int i = 0; i < n; i++)
                if (x[i] < 0)
                    last = x[i];
            return last;
        }

    After:
        int f(int n, const int *x)
        {
            int last = 0;
            long long i_last = -1;
            for (int i = 0; i < n; i++) {
                if (x[i] < 0 && i > i_last)
                    i_last = i;
            }
            if (i_last != -1) {
                int i = i_last;
                last = x[i];
            }
            return last;
        }
    """

    name: ClassVar[str] = "find-last"

    loop: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether only the last execution of the branch shows."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        chosen = find_chosen(loop, facts.summaries)
        if isinstance(chosen, Reason):
            return Unknown((chosen,))
        if not can_number(loop, last=True):
            return does_not_fit("its iterations cannot be numbered", loop, "a counter of type int")
        if find_marked(place.function, loop) is not None:
            return does_not_fit("a pragma tells the compiler about this loop", loop, "remove the pragma")
        stop = _find_obstacle(loop, chosen, facts.summaries)
        if stop is not None:
            return Unknown((stop,))
        hidden = facts.origin(place.function).hidden
        shared = [s for s in _targets(chosen.run) if s in hidden or s.storage not in ("local", "parameter")]
        return does_not_fit(f"{shared[0].name} may be read elsewhere", loop) if shared else Proved()

    def apply(self, program: Program) -> Program:
        """Return the program with the search, and the branch behind it."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        chosen = find_chosen(loop, Summaries.of(program))
        assert not isinstance(chosen, Reason)
        new = write_chosen(loop, chosen, Fresh.of(program), last=True)
        return with_run(program, place.function, (loop,), new)


def _find_obstacle(loop: For, chosen: ChosenForm, summaries: Summaries) -> Reason | None:
    """Return what the branch does besides setting variables to functions of the iteration, or None."""
    targets = _targets(chosen.run)
    if len(targets) != len(chosen.run):
        return Reason("STP002", "the branch does more than setting numbers", loop.header)
    own = {d.symbol for stmt in chosen.temporaries for d in stmt.declarations}
    if own & set(targets) or loop.variable in targets:
        return Reason("STP002", "the branch sets a variable of the loop's own", loop.header)
    values = [d.init for stmt in chosen.temporaries for d in stmt.declarations if d.init is not None]
    for expr in (loop.lower, loop.bound, chosen.condition, *values):
        if not _is_free(expr, set(targets)):
            return Reason("STP002", "the condition reads what the branch sets", expr.span)
    late = set(targets)
    for target, stmt in zip(targets, chosen.run, strict=True):
        value = _value(stmt)
        if value is None or not _is_free(value, late) or not _is_pure(value, summaries):
            text = f"what {target.name} is set to does not depend on the iteration alone"
            return Reason("STP002", text, stmt.span)
        late.discard(target)
    return None


def _targets(run: Sequence[Stmt]) -> list[Symbol]:
    """Return the variables that plain assignments of numbers and addresses set."""
    found: list[Symbol] = []
    for stmt in run:
        inner = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
        target = peel(inner.target) if isinstance(inner, Assign) and inner.op == "=" else None
        if isinstance(target, Name) and (isinstance(target.type, Scalar) or _is_pointer(target.type)):
            found.append(target.symbol)
    return found


def _is_pointer(type: Type) -> bool:
    return isinstance(type, Pointer) and not type.reference


def _value(stmt: Stmt) -> Expr | None:
    inner = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
    return inner.value if isinstance(inner, Assign) else None


def _is_free(expr: Expr, symbols: set[Symbol]) -> bool:
    return not any(n.symbol in symbols for n in names(expr))


def _is_pure(expr: Expr, summaries: Summaries) -> bool:
    return not any(has_effect(n) or (isinstance(n, Call) and not only_computes(n, summaries)) for n in walk(expr))
