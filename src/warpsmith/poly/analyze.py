"""Facts about every loop of a program: may its iterations run in any order, and if not, why.

A loop is tried without guards first; if something stands in the way and side conditions were left open, once more
with guards. What is Proved needs no guard that it could do without; what is Refuted has a witness.

Work is bounded by counts, so that the answer is the same on every machine: of a function, the loops are judged for
which the least is read (its text, and the bounds of the loops around it), as long as that is not too much together
(`max_nodes`); a loop's dependence tests have `loop_operations`, half as many after each loop that was given up, and
half again for each of those that stands in it, whose tests are among its own. A time limit is for what counts do not
see: the loops that are judged by then keep their verdicts, and the functions of the others are `late`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.base.time_limit import OutOfTimeError, time_limit
from warpsmith.base.verdict import Proved, Reason, Unknown
from warpsmith.poly.aliasing.blockers import blocker
from warpsmith.poly.dependences.judge import Judgement, Question, judge
from warpsmith.poly.dependences.scalars import ScalarRoles, classify_scalars
from warpsmith.poly.effects.assertions import resting_on, user_assertions
from warpsmith.poly.effects.liveness import Liveness
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.facts import FunctionFacts, LoopFacts, PolyOptions, reading
from warpsmith.poly.granted import grants
from warpsmith.poly.isl.space import OutOfBudgetError, budget
from warpsmith.poly.regions.access_facts import access_facts
from warpsmith.tree.nodes import Expr, For, Function, Loop, Stmt
from warpsmith.tree.program import Program, Unit
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import loop_names, loops, written_symbols

__all__ = ["Facts", "analyze", "too_large"]


class Facts(Struct):
    """The memo of what is known about a program: made on demand, loop by loop, and kept.

    A node stands for one text: a function that a rewriting did not touch is judged where it came from, once for all
    programs (`_homes`), and `after` keeps what is known of every loop that still is the same node in the same loops,
    with the same variables read behind it: steps change no values. `brief`: what is refused has no witness, which costs
    more than the answer. `late`: functions in which there was no time for every loop; `stopped`: the seconds that are
    up, while the others are told so. `orders` is the memo of legality/order.py and of loops/analysis/orders.py.
    `honor` adds what the program's pragmas claim
    (apply_claims.py, whose memo is `claims`).
    """

    program: Program
    options: PolyOptions
    summaries: Summaries
    brief: bool = False
    late: frozenset[Symbol] = frozenset()
    stopped: float | None = None
    _loops: dict[int, _Known] = field(default_factory=dict)
    orders: dict[object, object] = field(default_factory=dict)
    honor: Honor | None = field(default=None)
    claims: dict[object, object] = field(default_factory=dict)
    _functions: dict[int, FunctionFacts] = field(default_factory=dict)
    _homes: dict[int, Facts] = field(default_factory=dict)
    _origins: dict[int, Origin] = field(default_factory=dict)
    _liveness: dict[int, Liveness] = field(default_factory=dict)

    @classmethod
    def about(cls, program: Program, options: PolyOptions, honor: Honor | None = None) -> Facts:
        """Return the empty memo of a program."""
        return cls(program, options, Summaries.of(program), honor=honor)

    def after(self, program: Program) -> Facts:
        """Return the memo of a program that steps made from this one: the same but for rewritten functions."""
        kept = {id(function) for _, function in program.functions()}
        own = (id(function) for _, function in self.program.functions())
        new = Facts(program, self.options, Summaries.of(program), self.brief, self.late, honor=self.honor)
        new._loops, new.claims = dict(self._loops), dict(self.claims)
        new._homes = {key: self._homes.get(key, self) for key in own if key in kept}
        return new

    def has_judged(self, loop: Loop) -> bool:
        """Whether a loop has a verdict from before the steps that made this program."""
        return id(loop) in self._loops

    def set_aside(self, function: Function, copies: Mapping[int, Reason]) -> None:
        """Do not judge these loops of a function (by identity): each is a copy, in the same place, of a loop about
        which nothing is known, for the given reason."""
        work = _Work(self, function, loop_names(function))
        after = self.liveness(function).after
        for loop, around in loops(function.body):
            reason = copies.get(id(loop))
            if reason is not None and id(loop) not in self._loops:
                same = work.unanalyzable(loop, around, reason)
                self._loops[id(loop)] = _Known(around, after[loop] & written_symbols(loop), same)

    def stop(self, seconds: float) -> None:
        """Answer for every loop that is not judged yet that `seconds` of processor time were up; pragmas that are not
        judged count for nothing."""
        self.stopped = seconds
        for function in self.functions:
            function.judge_all()
        self.stopped = None

    def note_late(self, function: Function) -> None:
        """Remember that there was no time for every loop of a function."""
        self.late |= {function.symbol}

    def briefly(self) -> Facts:
        """Return the same memo for questions whose refusals nobody will read."""
        return replace(self, brief=True, orders={}, _functions=dict(self._functions))

    @property
    def functions(self) -> tuple[FunctionFacts, ...]:
        """The facts of every function, in source order."""
        return tuple(self.of(function) for _, function in self.program.functions())

    def of(self, function: Function) -> FunctionFacts:
        """Return the facts of a function node of the program: every loop exactly once."""
        home = self._homes.get(id(function))
        if home is not None:
            return home.of(function)
        if id(function) not in self._functions:
            unit = next(u for u, f in self.program.functions() if f is function)
            found = _function_facts(self, unit, function)
            honored = found if self.honor is None or self.stopped else self.honor(self, found)
            if honored is not found and not self.brief:
                honored.judge_all()
            self._functions[id(function)] = honored
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


Honor = Callable[[Facts, FunctionFacts], FunctionFacts]


def analyze(program: Program, options: PolyOptions, honor: Honor | None = None, seconds: float = 0) -> Facts:
    """Return the facts of every loop of every function, each loop exactly once, from the function of the least text to
    the largest. After `seconds` of processor time (0: never) the loops that are not judged yet are Unknown."""
    facts = Facts.about(program, options, honor)
    functions = [function for _, function in program.functions()]
    try:
        with time_limit(seconds, "processor"):
            for function in sorted(functions, key=lambda one: one.span.end - one.span.start):
                facts.of(function).judge_all()
    except OutOfTimeError:
        facts.stop(seconds)
    return facts


def _function_facts(memo: Facts, unit: Unit, function: Function) -> FunctionFacts:
    """Return the facts of the loops of one function."""
    around = dict(loops(function.body))
    if not around:
        return FunctionFacts.known(unit, function, ())
    large = too_large([*around.items()], memo.options.max_nodes)
    work = _Work(memo, function, loop_names(function), large)
    return FunctionFacts(unit, function, lambda loop: _loop_facts(work, loop, around[loop]))


def too_large(found: Sequence[tuple[Loop, tuple[Loop, ...]]], most: int) -> Mapping[Loop, int]:
    """Return the loops that are not judged, with what is read for each: the largest, as many as it takes."""
    sizes = {
        loop: reading(loop) + sum(reading(part) for outer in around for part in _head(outer)) for loop, around in found
    }
    together = 0
    left: dict[Loop, int] = {}
    for loop, size in sorted(sizes.items(), key=lambda pair: pair[1]):
        together += size
        if together > most:
            left[loop] = size
    return left


def _head(loop: Loop) -> tuple[Expr, ...]:
    return (loop.lower, loop.bound) if isinstance(loop, For) else ()


def _loop_facts(work: _Work, loop: Loop, around: tuple[Loop, ...]) -> LoopFacts:
    """Return the facts of one loop, from the memo where they still hold."""
    memo = work.memo
    live = memo.liveness(work.function).after[loop] & written_symbols(loop)
    known = memo._loops.get(id(loop))
    if known is None or known.around != around or known.live != live or (known.brief and not memo.brief):
        found = work.facts(loop, around)
        refused = not isinstance(found.verdict, Proved) and not isinstance(found.combined, Proved)
        known = memo._loops[id(loop)] = _Known(around, live, found, memo.brief and refused)
    return replace(known.facts, id=work.ids[loop], function=work.function)


class _Known(Struct, frozen=True):
    """The facts of a loop, the loops around it, and what it writes that is read behind it; `brief`: it is refused, and
    nobody has asked for a witness."""

    around: tuple[Loop, ...]
    live: frozenset[Symbol]
    facts: LoopFacts
    brief: bool = False


class _Work(Struct):
    """What the loops of one function share; `given_up` are those whose test was too much work."""

    memo: Facts
    function: Function
    ids: dict[Loop, str]
    too_large: Mapping[Loop, int] = field(default_factory=dict)
    given_up: list[Loop] = field(default_factory=list)

    def facts(self, loop: Loop, around: tuple[Loop, ...]) -> LoopFacts:
        if self.memo.stopped:
            self.memo.note_late(self.function)
            return self.too_much(loop, around, f"{self.memo.stopped:g} s of processor time were up", "raise --timeout")
        if loop in self.too_large:
            size, most = self.too_large[loop], self.memo.options.max_nodes
            what = (
                f"the loops of {self.function.symbol.name} hold too much together (this one {size:,} of {most:,} terms)"
            )
            return self.too_much(loop, around, what)
        try:
            with budget(self.most_operations(loop)):
                return self._facts(loop, around)
        except OutOfBudgetError as error:
            self.given_up.append(loop)
            return self.too_much(loop, around, str(error))

    def most_operations(self, loop: Loop) -> int:
        """Return how many isl operations the tests of a loop may take."""
        most = min(self.memo.options.max_operations, self.memo.options.loop_operations)
        inside = sum(1 for other in self.given_up if loop.span.contains(other.span))
        return most >> (len(self.given_up) + inside)

    def too_much(self, loop: Loop, around: tuple[Loop, ...], what: str, *more: str) -> LoopFacts:
        text = f"whether its iterations depend on each other was not worked out: {what}"
        helps = (*more, "give a part of it a function, or a loop, of its own")
        return self.unanalyzable(loop, around, Reason("POR005", text, loop.header, legal_if=helps))

    def _facts(self, loop: Loop, around: tuple[Loop, ...]) -> LoopFacts:
        memo, options = self.memo, self.memo.options
        origin = memo.origin(self.function)
        stop = blocker(origin, loop)
        if stop is not None or not isinstance(loop, For):
            return self.unanalyzable(loop, around, stop or Reason("POR008", "not a counted loop", loop.header))
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
        said = user_assertions(self.memo.summaries, self.function)
        return LoopFacts(
            id=self.ids[loop],
            loop=loop,
            function=self.function,
            depth=len(around),
            category=answer.category,
            verdict=resting_on(answer.verdict, said),
            private=roles.private,
            live_out=roles.live_out,
            reductions=answer.reductions,
            reasons=answer.reasons,
            accesses=access_facts(answer.region),
            combined=resting_on(answer.combined, said) if answer.combined is not None else None,
            blamed=answer.blamed,
        )

    def unanalyzable(self, loop: Loop, around: tuple[Stmt, ...], reason: Reason) -> LoopFacts:
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
