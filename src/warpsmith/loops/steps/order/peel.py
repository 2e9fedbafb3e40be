"""Peeling: see Peel.

    for (i = 0; i < n; i++) S(i);   →   if (0 < n) S(0);   for (i = 1; i < n; i++) S(i);              first=1

                                        if (0 < n) { for (i = 0; i < n - 1; i++) S(i);  S(n - 1); }    last=1

Invariant: every peeled iteration stands under the test that the loop would have made. No bound is moved where that
could overflow: behind the test the bound lies above the first value.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from warpsmith.base.verdict import Proved, Unknown, Verdict
from warpsmith.loops.analysis.scopes import names_hold
from warpsmith.loops.analysis.shape import (
    compares_plainly,
    counter_stays,
    does_not_fit,
    find_restraint,
    jump,
    refuse_uncounted,
    trip_count,
    unrepeatable,
    wrong_value,
)
from warpsmith.loops.analysis.substitute import copy_tree
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.linear import Linear
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.writing.pieces import compare_copies, convert_to, guard_run, instance, plus, unchangeable
from warpsmith.loops.writing.pragma_lines import run_with_pragmas
from warpsmith.poly.analyze import Facts
from warpsmith.tree.nodes import Expr, For, Pragma, Stmt, replace
from warpsmith.tree.program import Program
from warpsmith.tree.text.directives import Clause, Directive
from warpsmith.tree.walk import walk

__all__ = ["Peel"]

_MOST = 16
# what a `parallel for` may say that is as true of the loop without its last iteration
_KEPT = frozenset({
    "private", "firstprivate", "lastprivate", "shared", "default", "reduction", "schedule", "num_threads", "if",
    "proc_bind",
})  # fmt: skip


class Peel(Struct, frozen=True):
    """Take the first or the last iterations out of a loop.

    Always legal, as no iteration changes its place (Wolfe: High Performance Compilers for Parallel Computing, 9.1).
    `first` iterations are written in front of the loop, `last` (0 or 1) behind it.

    Step: loop=f/i first=1

    Before:
        void f(int n, double *a)
        {
            for (int i = 0; i < n; i++)
                a[i] = a[0] + i;
        }

    After:
        void f(int n, double *a)
        {
            if (0 < n)
                a[0] = a[0] + 0;
            for (int i = 1; i < n; i++)
                a[i] = a[0] + i;
        }
    """

    name: ClassVar[str] = "peel"
    loop: str
    first: int = 0
    last: int = 0

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the iterations can be written apart."""
        place = LoopContext.of(program, self.loop)
        loop = place.loop
        if not isinstance(loop, For):
            return refuse_uncounted(loop)
        free = self.last and not self.first and _shared_pragma(place) is not None
        stop = _left_early(facts, place, loop) if free else find_restraint(facts, place.function, loop)
        stop = stop or unrepeatable(facts, place.function, loop)
        stop = stop or unchangeable(loop) or self._misfit(loop)
        return stop or names_hold(self, program, self.loop, Proved())

    def apply(self, program: Program) -> Program:
        """Return the program with the iterations apart."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        pragma = _shared_pragma(place)
        if pragma is not None:
            new = guard_run(
                compare_copies(loop.lower, loop.relation, loop.bound), _apart(loop, pragma, Fresh.of(program))
            )
            return with_run(program, place.function, (pragma, loop), (new,))
        return with_run(program, place.function, (loop,), self._peel_loop(loop, Fresh.of(program)))

    def _misfit(self, loop: For) -> Unknown | None:
        name = loop.variable.name
        if not 0 <= self.first <= _MOST or self.last not in (0, 1) or self.first + self.last == 0:
            given = f"first={self.first} last={self.last}"
            return wrong_value(f"{given}: 1 to {_MOST} first iterations can be taken, and the last one", loop)
        if loop.relation == "!=" or not compares_plainly(loop):
            return does_not_fit(f"the {name} loop does not run up to its bound without conversions", loop)
        lower = Linear.of(loop.lower)
        start = None if lower is None else lower.number
        if self.first > 1 and (start is None or abs(start) > 2**20 or abs(loop.step) > 2**20):
            return does_not_fit(f"the {name} loop does not start at a number: peel one iteration at a time", loop)
        if self.first and (start is None or start < 0 or loop.step < 0) and self.last:
            return does_not_fit("peel the first and the last iteration in two steps", loop)
        if self.last and abs(loop.step) != 1:
            return does_not_fit(f"the last value of {name} is not a simple expression: its step is {loop.step}", loop)
        return None

    def _peel_loop(self, loop: For, fresh: Fresh) -> tuple[Stmt, ...]:
        rest = replace(loop, lower=plus(copy_tree(loop.lower), self.first * loop.step)) if self.first else loop
        lower = Linear.of(loop.lower)
        if lower is None or lower.number is None:
            return (self._behind_test(loop, rest, fresh),)
        front: list[Stmt] = []
        for turn in range(self.first):
            value = plus(copy_tree(loop.lower), turn * loop.step)
            run = instance(loop, convert_to(value, loop.variable.type), fresh)
            if _runs(loop, turn):
                front += run
            else:
                front.append(guard_run(compare_copies(value, loop.relation, loop.bound), run))
        return (*front, *_split_last(rest, fresh)) if self.last else (*front, rest)

    def _behind_test(self, loop: For, rest: For, fresh: Fresh) -> Stmt:
        """Return the loop without its first or its last iteration, all of it under the test that it runs: its first
        value may be the last one of its type, and must not be moved elsewhere."""
        if self.last:
            return guard_run(None, _split_last(loop, fresh))
        run = instance(loop, convert_to(copy_tree(loop.lower), loop.variable.type), fresh)
        return guard_run(compare_copies(loop.lower, loop.relation, loop.bound), (*run, rest))


def _runs(loop: For, turn: int) -> bool:
    """Whether iteration `turn` is surely executed."""
    trips = trip_count(loop)
    return trips is not None and trips > turn


def _split_last(loop: For, fresh: Fresh) -> tuple[Stmt, ...]:
    """Return `if (it runs) { the loop but for its last iteration; that iteration }`."""
    apart = _apart(loop, None, fresh)
    return apart if _runs(loop, 0) else (guard_run(compare_copies(loop.lower, loop.relation, loop.bound), apart),)


def _apart(loop: For, pragma: Pragma | None, fresh: Fresh) -> tuple[Stmt, ...]:
    """Return the loop but for its last iteration, behind its pragma, and that iteration."""
    up = loop.step > 0
    closed = loop.relation in ("<=", ">=")
    before = plus(copy_tree(loop.bound), -1 if up else 1)
    last: Expr = copy_tree(loop.bound) if closed else before
    main = replace(loop, relation="<" if up else ">", bound=copy_tree(loop.bound) if closed else before)
    run = instance(loop, convert_to(last, loop.variable.type), fresh)
    return (main, *run) if pragma is None else (_drop_lists(pragma), main, *run)


def _shared_pragma(place: LoopContext) -> Pragma | None:
    """Return the one pragma of a loop where it says of fewer iterations what it says of all: `parallel for`."""
    first, *rest = run_with_pragmas(place)
    directive = first.directive if isinstance(first, Pragma) else None
    if directive is None or len(rest) != 1 or directive.family != "omp" or directive.unknown:
        return None
    if directive.words[:2] != ("parallel", "for") or any(c.name not in _KEPT for c in directive.clauses):
        return None
    inside = any(isinstance(part, Pragma) for part in walk(place.loop))
    return first if isinstance(first, Pragma) and not inside else None


def _drop_lists(pragma: Pragma) -> Pragma:
    """Return the pragma with `private` in place of `lastprivate`: the last iteration is another statement now."""
    directive = pragma.directive
    assert directive is not None, "looked at"
    given = directive.list_variables("firstprivate")
    clauses: list[Clause] = []
    for clause in directive.clauses:
        if clause.name == "lastprivate":
            listed = tuple(v for v in clause.variables if v.name not in given)
            clause = Clause("private", f"private({', '.join(v.name for v in listed)})", listed)
        if clause.variables or clause.name != "private":
            clauses.append(clause)
    text = " ".join(["#pragma omp", *directive.words, *(c.text for c in clauses)])
    return replace(pragma, text=text, directive=Directive("omp", directive.words, tuple(clauses)))


def _left_early(facts: Facts, place: LoopContext, loop: For) -> Unknown | None:
    left = jump(loop.body)
    if left is not None:
        return does_not_fit(f"an iteration of the {loop.variable.name} loop may be left early", left)
    return counter_stays(facts, place.function, loop, loop)
