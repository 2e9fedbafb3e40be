"""Facts about every loop of a program: may its iterations run in any order, and if not, why.

A loop is tried without guards first; if something stands in the way and side conditions were left open, once more
with guards. What is Proved needs no guard that it could do without; what is Refuted has a witness.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

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
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import loop_names, loops, written_symbols

__all__ = ["Facts", "analyze"]


@dataclass(slots=True)
class Facts:
    """The memo of what is known about a program: made on demand, function by function, and kept.

    A node stands for one text: after a rewriting, `after` keeps what is known of every function that was not touched,
    and of every loop that still is the same node in the same loops, with the same variables read behind it: steps
    change no values. `brief`: what is refused has no witness, which costs more than the answer. `orders` is the memo of
    order.py.
    """

    program: Program
    options: PolyOptions
    summaries: Summaries
    brief: bool = False
    _loops: dict[int, _Known] = field(default_factory=dict, repr=False)
    orders: dict[object, object] = field(default_factory=dict, repr=False)
    _functions: dict[int, FunctionFacts] = field(default_factory=dict, repr=False)
    _origins: dict[int, Origin] = field(default_factory=dict, repr=False)
    _liveness: dict[int, Liveness] = field(default_factory=dict, repr=False)

    @classmethod
    def about(cls, program: Program, options: PolyOptions) -> Facts:
        """Return the empty memo of a program."""
        return cls(program, options, Summaries.of(program))

    def after(self, program: Program) -> Facts:
        """Return the memo of a program that steps made from this one: the same but for rewritten functions."""
        kept = {id(function) for _, function in program.functions()}
        known = {key: facts for key, facts in self._functions.items() if key in kept}
        return Facts(program, self.options, Summaries.of(program), self.brief, dict(self._loops), {}, known)

    def briefly(self) -> Facts:
        """Return the same memo for questions whose refusals nobody will read."""
        return replace(self, brief=True, orders={})

    @property
    def functions(self) -> tuple[FunctionFacts, ...]:
        """The facts of every function, in source order."""
        return tuple(self.of(function) for _, function in self.program.functions())

    def of(self, function: Function) -> FunctionFacts:
        """Return the facts of a function node of the program: every loop exactly once."""
        if id(function) not in self._functions:
            unit = next(u for u, f in self.program.functions() if f is function)
            self._functions[id(function)] = _function_facts(self, unit, function)
        return self._functions[id(function)]

    def loop(self, loop: Loop) -> LoopFacts:
        """Return the facts of a loop node of the program."""
        holders = (f for _, f in self.program.functions() if any(inner is loop for inner, _ in loops(f.body)))
        return self.of(next(holders)).of(loop)

    def origin(self, function: Function) -> Origin:
        """Return what is known of a function as a whole."""
        if id(function) not in self._origins:
            self._origins[id(function)] = Origin.of(self.program, function, self.summaries)
        return self._origins[id(function)]

    def liveness(self, function: Function) -> Liveness:
        """Return what is read after each statement of a function."""
        if id(function) not in self._liveness:
            self._liveness[id(function)] = Liveness.of(self.program, function, self.summaries)
        return self._liveness[id(function)]


def analyze(program: Program, options: PolyOptions) -> Facts:
    """Return the facts of every loop of every function, each loop exactly once."""
    facts = Facts.about(program, options)
    for _, function in program.functions():
        facts.of(function)
    return facts


def _function_facts(memo: Facts, unit: Unit, function: Function) -> FunctionFacts:
    """Return the facts of all loops of one function, in source order."""
    found = list(loops(function.body))
    if not found:
        return FunctionFacts(unit, function, ())
    work = _Work(memo, function, loop_names(function))
    return FunctionFacts(unit, function, tuple(_loop_facts(work, loop, around) for loop, around in found))


def _loop_facts(work: _Work, loop: Loop, around: tuple[Loop, ...]) -> LoopFacts:
    """Return the facts of one loop, from the memo where they still hold."""
    memo = work.memo
    live = memo.liveness(work.function).after[loop] & written_symbols(loop)
    known = memo._loops.get(id(loop))
    if known is None or known.around != around or known.live != live:
        known = memo._loops[id(loop)] = _Known(around, live, work.facts(loop, around))
    return replace(known.facts, id=work.ids[loop], function=work.function)


@dataclass(frozen=True, slots=True)
class _Known:
    """The facts of a loop, the loops around it, and what it writes that is read behind it."""

    around: tuple[Loop, ...]
    live: frozenset[Symbol]
    facts: LoopFacts


@dataclass(slots=True)
class _Work:
    """What the loops of one function share."""

    memo: Facts
    function: Function
    ids: dict[Loop, str]

    def facts(self, loop: Loop, around: tuple[Loop, ...]) -> LoopFacts:
        try:
            with budget(self.memo.options.max_operations):
                return self._facts(loop, around)
        except OutOfBudgetError:
            reason = Reason("POR005", "the dependence test ran out of its work budget", loop.header)
            return self._unanalyzable(loop, around, reason)

    def _facts(self, loop: Loop, around: tuple[Loop, ...]) -> LoopFacts:
        memo, options = self.memo, self.memo.options
        origin = memo.origin(self.function)
        stop = blocker(origin, loop)
        if stop is not None or not isinstance(loop, For):
            return self._unanalyzable(loop, around, stop or Reason("POR008", "not a counted loop", loop.header))
        liveness = memo.liveness(self.function)
        roles = classify_scalars(memo.program, self.function, loop, liveness, summaries=memo.summaries)
        ids = {k: v for k, v in self.ids.items() if isinstance(k, For)}
        question = Question(origin, loop, around, roles, options, ids, memo.brief)
        forced = grants(options.granted, "parallel", self.ids[loop])
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
            combined=answer.combined,
            blamed=answer.blamed,
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
