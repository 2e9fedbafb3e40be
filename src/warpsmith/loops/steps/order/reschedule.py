"""Rescheduling: see Reschedule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import msgspec.structs
from msgspec import Struct

from warpsmith.base.verdict import Proved, Unknown, Verdict
from warpsmith.loops.analysis.orders import (
    Run,
    counters_of,
    judge_schedules,
    names_of,
    reorder_statements,
    statements_of,
)
from warpsmith.loops.analysis.schedule_text import ScheduleTextError, read_schedule, schedule_text
from warpsmith.loops.analysis.shape import does_not_fit, wrong_value
from warpsmith.loops.place import LoopContext
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.legality.schedules import Schedule
from warpsmith.poly.schedule.scheduling import proposals
from warpsmith.tree.nodes import Block, Case, Stmt
from warpsmith.tree.program import Program
from warpsmith.tree.walk import walk

__all__ = ["Reschedule"]


class Reschedule(Struct, frozen=True):
    """Run the statements of a loop, or of `statements` consecutive ones, in another order.

    Each statement without loops gets a schedule in `times`, in the order of the text: dimensions between blanks, sums
    of its counters or numbers; instances run in lexicographic order of their schedules, and where dimensions are equal
    numbers or the same counter, statements share loops. Left out, the schedules are searched with the scheduler of isl
    (S. Verdoolaege: isl, ICMS 2010). Legal where every dependence keeps its direction.

    Step: loop=f/i, times="k 1 i:i 0"

    Before:
        void f(int n, double L[restrict n][n], double x[restrict n])
        {
            for (int i = 0; i < n; i++) {
                for (int k = 0; k < i; k++)
                    x[i] -= L[i][k] * x[k];
                x[i] /= L[i][i];
            }
        }

    After:
        void f(int n, double L[restrict n][n], double x[restrict n])
        {
            for (int k = 0; k < n; k++) {
                x[k] /= L[k][k];
                for (int i = k + 1; i < n; i++)
                    x[i] -= L[i][k] * x[k];
            }
        }
    """

    name: ClassVar[str] = "reschedule"
    loop: str
    statements: int = 1
    times: tuple[str, ...] = ()

    def complete(self, program: Program, facts: Facts) -> Reschedule:
        """Return the step with the first schedules that are found, proved and can be written; itself where there are
        none.

        The completed step does not depend on any search.
        """
        return self if self.times else next(self.find(program, facts), self)

    def find(self, program: Program, facts: Facts) -> Iterator[Reschedule]:
        """Yield the step with each of the schedules that the search finds and that are Proved."""
        place = LoopContext.of(program, self.loop)
        run = self._run(place)
        if isinstance(run, Unknown):
            return
        statements = statements_of(run)
        for schedules in proposals(facts, place.function, run, statements):
            if isinstance(judge_schedules(program, facts, place.function, run, schedules), Proved):
                yield msgspec.structs.replace(
                    self, times=tuple(schedule_text(schedules[statement]) for statement in statements)
                )

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Judge the new order."""
        place = LoopContext.of(program, self.loop)
        run = self._run(place)
        if isinstance(run, Unknown):
            return run
        step = self.complete(program, facts)
        if not step.times:
            return does_not_fit("no other order of these statements was found", place.loop, "give the schedules")
        schedules = step._schedules(run)
        return (
            schedules
            if isinstance(schedules, Unknown)
            else judge_schedules(program, facts, place.function, run, schedules)
        )

    def apply(self, program: Program) -> Program:
        """Return the program with the statements in the new order."""
        place = LoopContext.of(program, self.loop)
        run = self._run(place)
        step = self.complete(program, Facts.about(program, PolyOptions()))
        schedules = run if isinstance(run, Unknown) else step._schedules(run)
        if isinstance(run, Unknown) or isinstance(schedules, Unknown):
            raise ValueError("the step was not checked")
        return reorder_statements(program, place.function, run, schedules)

    def _run(self, place: LoopContext) -> Run | Unknown:
        """Return the loop and the statements behind it that move with it."""
        loop = place.require_counted()
        if self.statements < 1:
            return wrong_value(f"statements={self.statements}: at least the loop itself moves", loop, "statements=1")
        for node in walk(place.function.body):
            run = node.statements if isinstance(node, Block) else node.body if isinstance(node, Case) else ()
            for k, stmt in enumerate(run):
                if stmt is loop and k + self.statements <= len(run):
                    return run[k : k + self.statements]
        if self.statements == 1:
            return (loop,)
        return wrong_value(f"behind the loop stand fewer than {self.statements - 1} statements", loop, "statements=1")

    def _schedules(self, run: Run) -> Mapping[Stmt, Schedule] | Unknown:
        statements = statements_of(run)
        if len(statements) != len(self.times):
            text = f"there are {len(statements)} statements to move, and {len(self.times)} schedules"
            own = ":".join(
                " ".join(loop.variable.name for loop in counters_of(run, statement)) or "0" for statement in statements
            )
            return wrong_value(text, run[0], f"times={own}")
        found: dict[Stmt, Schedule] = {}
        for statement, text in zip(statements, self.times, strict=True):
            try:
                found[statement] = read_schedule(text, names_of(run, statement))
            except ScheduleTextError as error:
                return wrong_value(str(error), statement)
        return found
