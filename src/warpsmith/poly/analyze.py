"""Facts about every loop of a program: may its iterations run in any order, and if not, why.

A loop is tried without guards first; if something stands in the way and side conditions were left open, once more
with guards. What is Proved needs no guard that it could do without; what is Refuted has a witness.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from warpsmith.base.verdict import Proved, Reason, Unknown
from warpsmith.poly.access_facts import access_facts
from warpsmith.poly.blockers import blocker
from warpsmith.poly.facts import FunctionFacts, LoopFacts, PolyOptions
from warpsmith.poly.granted import grants
from warpsmith.poly.judge import Judgement, Question, judge
from warpsmith.poly.liveness import Liveness
from warpsmith.poly.origin import Origin
from warpsmith.poly.scalars import ScalarRoles, classify_scalars
from warpsmith.poly.space import OutOfBudgetError, budget
from warpsmith.poly.summaries import Summaries
from warpsmith.tree.nodes import For, Function, Loop, Stmt
from warpsmith.tree.program import Program, Unit
from warpsmith.tree.walk import loop_names, loops

__all__ = ["Facts", "analyze", "analyze_function"]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of every function of a program."""

    functions: tuple[FunctionFacts, ...]
    _of: dict[int, FunctionFacts] = field(init=False, repr=False, compare=False)
    _loops: dict[int, LoopFacts] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_of", {id(f.function): f for f in self.functions})
        object.__setattr__(self, "_loops", {id(x.loop): x for f in self.functions for x in f.loops})

    def of(self, function: Function) -> FunctionFacts:
        """Return the facts of a function node of the analyzed program."""
        return self._of[id(function)]

    def loop(self, loop: Loop) -> LoopFacts:
        """Return the facts of a loop node of the analyzed program."""
        return self._loops[id(loop)]


def analyze(program: Program, options: PolyOptions) -> Facts:
    """Return the facts of every loop of every function, each loop exactly once."""
    summaries = Summaries.of(program)
    return Facts(tuple(analyze_function(summaries, unit, function, options) for unit, function in program.functions()))


def analyze_function(summaries: Summaries, unit: Unit, function: Function, options: PolyOptions) -> FunctionFacts:
    """Return the facts of all loops of one function, in source order."""
    found = list(loops(function.body))
    if not found:
        return FunctionFacts(unit, function, ())
    work = _Work(summaries, function, options, loop_names(function))
    return FunctionFacts(unit, function, tuple(work.facts(loop, around) for loop, around in found))


@dataclass(slots=True)
class _Work:
    """What the loops of one function share."""

    summaries: Summaries
    function: Function
    options: PolyOptions
    ids: dict[Loop, str]
    origin: Origin | None = None
    liveness: Liveness | None = None

    def facts(self, loop: Loop, around: tuple[Loop, ...]) -> LoopFacts:
        try:
            with budget(self.options.max_operations):
                return self._facts(loop, around)
        except OutOfBudgetError:
            reason = Reason("POR005", "the dependence test ran out of its work budget", loop.header)
            return self._unanalyzable(loop, around, reason)

    def _facts(self, loop: Loop, around: tuple[Loop, ...]) -> LoopFacts:
        program = self.summaries.program
        if self.origin is None:
            self.origin = Origin.of(program, self.function, self.summaries)
        stop = blocker(self.origin, loop)
        if stop is not None or not isinstance(loop, For):
            return self._unanalyzable(loop, around, stop or Reason("POR008", "not a counted loop", loop.header))
        if self.liveness is None:
            self.liveness = Liveness.of(program, self.function, self.summaries)
        roles = classify_scalars(program, self.function, loop, self.liveness, summaries=self.summaries)
        ids = {k: v for k, v in self.ids.items() if isinstance(k, For)}
        question = Question(self.origin, loop, around, roles, self.options, ids)
        forced = grants(self.options.granted, "parallel", self.ids[loop])
        answer = judge(question)
        if forced is not None and not isinstance(answer.verdict, Proved):
            answer = Judgement("parallel", Proved((forced,)), answer.reasons, answer.reductions, answer.region)
        return self._assemble(loop, around, roles, answer)

    def _assemble(self, loop: For, around: tuple[Loop, ...], roles: ScalarRoles, answer: Judgement) -> LoopFacts:
        return LoopFacts(
            id=self.ids[loop],
            loop=loop,
            function=self.function,
            depth=len(around),
            category=answer.category,
            verdict=answer.verdict,
            private=roles.private,
            live_out=roles.live_out,
            reductions=answer.reductions,
            reasons=answer.reasons,
            accesses=access_facts(answer.region),
        )

    def _unanalyzable(self, loop: Loop, around: tuple[Stmt, ...], reason: Reason) -> LoopFacts:
        return LoopFacts(
            id=self.ids[loop],
            loop=loop,
            function=self.function,
            depth=len(around),
            category="unanalyzable",
            verdict=Unknown((reason,)),
            private=(),
            live_out=(),
            reductions=(),
            reasons=(reason,),
            accesses=(),
        )
