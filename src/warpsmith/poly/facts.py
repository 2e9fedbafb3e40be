"""The facts about a program that poly gives to the other packages. No isl type appears here.

Facts          program → function → loop: category, verdict, what may be private, what is reduced
AccessFact     one array reference of a loop nest, with its stride along every counter
Section        which elements of an array a statement run may touch, as host expressions
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason, Verdict
from warpsmith.tree.claims import Claim
from warpsmith.tree.nodes import Conditional, Expr, Function, Loop, Node, Stmt
from warpsmith.tree.program import Assumption, Unit
from warpsmith.tree.types import Symbol, Type
from warpsmith.tree.walk import loops, walk

__all__ = [
    "Category",
    "ClaimFacts",
    "FunctionFacts",
    "LoopFacts",
    "PolyOptions",
    "Reduction",
    "ReferenceFact",
    "Section",
    "Sections",
    "least_first",
    "reading",
]  # fmt: skip

_CHOICE = 100

Category = Literal["parallel", "reduction", "scan", "parallel-after", "sequential", "unanalyzable"]


class PolyOptions(Struct, frozen=True):
    """`guards`: guarded assumptions may be used; `granted`: what the user asserted; `max_operations`: isl budget
    of one question, of which a loop's verdict takes no more than `loop_operations`;
    `max_nodes`: so much of the tree is read for the loops of one function;
    `described`: of so many conflicts of a loop a witness is looked for;
    `claims`: a pragma's claim that can be neither proved nor refuted is granted (`trust`), or not (`check`);
    `disbelieved`: the pragmas (file, line) that a run has shown to be wrong."""

    guards: bool = True
    granted: tuple[Assumption, ...] = ()
    max_operations: int = 4_000_000
    max_nodes: int = 150_000
    described: int = 6
    claims: Literal["trust", "check"] = "trust"
    disbelieved: frozenset[tuple[str, int]] = frozenset()
    loop_operations: int = 2_000_000


class Reduction(Struct, frozen=True):
    """An associative update (`op` as in C, or min/max) that is the only carried dependence of a loop.

    `location`: the first of the `companions`, variables that are set with a new extreme (`{ m = a[i]; at = i; }`), all
    to functions of the iteration alone; `strict`: an equal value does not replace the extreme (`>`, not `>=`), so that
    the first of equal ones stays; else the last.
    """

    op: str
    variable: Symbol
    span: Span
    location: Symbol | None = None
    strict: bool = True
    companions: tuple[Symbol, ...] = ()


class ReferenceFact(Struct, frozen=True):
    """One array reference. `strides`: how many elements the address moves per step of a counter (None: not a known
    number, so large); a counter that is not listed does not move it. `affine`: exact, not over-approximated."""

    expr: Expr
    base: Symbol
    element: Type
    write: bool
    strides: Mapping[Symbol, int | None]
    affine: bool


class ClaimFacts(Struct, frozen=True):
    """What a pragma claims of a loop, and whether that is true. `understood`: no clause had to be left out; `granted`:
    it was neither proved nor refuted, and the loop's verdict rests on it; `given_up`: the work budget was spent."""

    claim: Claim
    verdict: Verdict
    understood: bool = True
    granted: Assumption | None = None
    given_up: bool = False


class LoopFacts(Struct, frozen=True):
    """One loop of the user's text.

    `verdict` answers: may the iterations of this loop, the loops around it held fixed, run in any order and at once,
    with `private` variables owned by each iteration? Its assumptions say under which conditions. `live_out` are the
    private ones whose value is read after the loop (the last iteration's value must then be stored back).
    `reasons` explain the category in every case, also a parallel one's (`no carried dependence (proven)`).
    `claims` are those of the pragmas that cover the loop.
    `combined` is set for a reduction and a scan: Proved, under its assumptions, where nothing else is carried than the
    updates of `reductions` (so no two names of the loop reach one element, but for those updates). `blamed` are the
    variables whose conflicts make the loop sequential.
    """

    id: str
    loop: Loop
    function: Function
    depth: int
    category: Category
    verdict: Verdict
    private: tuple[Symbol, ...]
    live_out: tuple[Symbol, ...]
    reductions: tuple[Reduction, ...]
    reasons: tuple[Reason, ...]
    accesses: tuple[ReferenceFact, ...]
    combined: Verdict | None = None
    blamed: tuple[Symbol, ...] = ()
    claims: tuple[ClaimFacts, ...] = ()


class FunctionFacts:
    """The facts of every loop of one function: each is judged when it is asked about, and kept. `prepare`: what is done
    first where all of them are wanted."""

    __slots__ = ("_judge", "_known", "_prepare", "function", "unit")

    def __init__(
        self,
        unit: Unit,
        function: Function,
        judge: Callable[[Loop], LoopFacts],
        prepare: Callable[[], None] | None = None,
    ) -> None:
        self.unit = unit
        self.function = function
        self._judge = judge
        self._prepare = prepare
        self._known: dict[int, LoopFacts] = {}

    @classmethod
    def known(cls, unit: Unit, function: Function, found: Iterable[LoopFacts]) -> FunctionFacts:
        """Return the facts of a function whose loops are judged already."""
        judged = {facts.loop: facts for facts in found}
        return cls(unit, function, judged.__getitem__)

    def of(self, loop: Loop) -> LoopFacts:
        """Return the facts of a loop node."""
        if id(loop) not in self._known:
            self._known[id(loop)] = self._judge(loop)
        return self._known[id(loop)]

    @property
    def loops(self) -> tuple[LoopFacts, ...]:
        """All loops in source order, every loop exactly once."""
        self.judge_all()
        return tuple(self.of(loop) for loop, _ in loops(self.function.body))

    def judge_all(self) -> None:
        """Judge every loop, from the least text to the largest."""
        found = [loop for loop, _ in loops(self.function.body) if id(loop) not in self._known]
        if found and self._prepare is not None:
            self._prepare()
        for loop in least_first(found):
            self.of(loop)


def least_first(found: Iterable[Loop]) -> list[Loop]:
    """Return loops in the order in which they are judged: from the least text to the largest."""
    return sorted(found, key=lambda one: one.span.end - one.span.start)


class Section(Struct, frozen=True):
    """The elements of `symbol` that a statement run may touch: [lower, upper), counted in `element`s from the object's
    first element (for a pointer: from where it points on entry). Both are host expressions of integer type (evaluate in
    64 bits) over variables that do not change between the scope's entry and the run. `covers`: every element of the
    section is certainly written whenever the run is executed with lower < upper (False where nobody asked)."""

    symbol: Symbol
    element: Type
    lower: Expr
    upper: Expr
    read: bool
    written: bool
    covers: bool


class Sections(Struct, frozen=True):
    """Answer of `sections`: the sections of every array that a statement run touches, or why one cannot be bounded.

    `unbounded`: the arrays of which only the bounds are missing; all that is touched through them lies in the object
    that the name stands for at the scope's entry. `given_up`: the work budget was spent."""

    sections: tuple[Section, ...]
    assumptions: tuple[Assumption, ...]
    failures: tuple[Reason, ...]
    unbounded: frozenset[Symbol] = frozenset()
    given_up: bool = False


def statement_spans(statements: tuple[Stmt, ...]) -> Span:
    """Return the span from the first to the last statement of a run."""
    first, last = statements[0].span, statements[-1].span
    return Span(first.file, first.start, last.end)


@functools.lru_cache(maxsize=4096)
def reading(node: Node) -> int:
    """Return how much work it is to read a node: its terms, where a choice counts as many, since all that is asked of
    what stands around it is asked of either arm."""
    return sum(_CHOICE if isinstance(part, Conditional) else 1 for part in walk(node))
