"""What a port does first with a nest that is not understood as written: what it finds in memory becomes variables.

    for (i …) g->u[i] = …    ── localize, flatten ──►    u[i] = …    parallel after localize=f/i

Invariant: every step was Proved on the file as it was rewritten before, with what is told of the other files; no
category gets worse. The effort is bounded by counts, so that the answer is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved
from warpsmith.loops.fallbacks import fallback_loops
from warpsmith.loops.localized import localized
from warpsmith.loops.prepared import Prepared
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import FunctionFacts, LoopFacts
from warpsmith.survey.limits import StepsEffort
from warpsmith.tree.nodes import Function, Index, Loop, Member, While
from warpsmith.tree.program import Unit
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import loops, walk

__all__ = ["Improved", "improved"]

RANK: Final = ("parallel", "parallel-after", "reduction", "scan", "sequential", "unanalyzable")
_NAMED = ("POR003", "POR004", "POR005")
"""Reasons that may be gone when what comes from memory has a name."""


@dataclass(frozen=True, slots=True)
class Improved:
    """What a loop is after `steps`; `tested`: a test before it chooses between it and the user's."""

    facts: LoopFacts
    steps: tuple[str, ...]
    tested: bool

    @property
    def category(self) -> str:
        """The category of the user's loop."""
        return "parallel-after" if self.facts.category == "parallel" else self.facts.category


@dataclass(slots=True)
class _Budget:
    """What is left of a file's effort."""

    effort: StepsEffort
    loops: int = field(init=False)

    def __post_init__(self) -> None:
        self.loops = self.effort.loops

    def takes(self, nest: Loop) -> bool:
        """Whether a nest is still tried; it is paid for then."""
        if sum(isinstance(part, Index | Member) for part in walk(nest)) > self.effort.references:
            return False
        count = sum(1 for _ in loops(nest))
        self.loops -= count
        return self.loops >= 0


def improved(facts: Facts, unit: Unit, effort: StepsEffort) -> Mapping[Loop, Improved]:
    """Return the loops of a file's own functions of which more is known after the steps."""
    budget = _Budget(effort)
    found: dict[Loop, Improved] = {}
    written = {id(item) for item in unit.items}
    for function in unit.functions:
        # a header's text is not one file's to rewrite, and a template's has several instances
        if function.span.file is unit.file and id(function) in written:
            known = facts.of(function)
            nests = [nest for nest in _blocked(known) if budget.takes(nest)]
            if nests:
                found.update(_of_function(facts, known, tuple(nest.span for nest in nests)))
    return found


def _blocked(known: FunctionFacts) -> Iterator[Loop]:
    """Yield the outermost loops that hold one, or are one, that names may help."""
    outermost: Loop | None = None
    for facts in known.loops:
        if facts.depth == 0:
            outermost = facts.loop
        if outermost is not None and _may_be_helped(facts):
            yield outermost
            outermost = None


def _may_be_helped(facts: LoopFacts) -> bool:
    if facts.category not in ("unanalyzable", "sequential"):
        return False
    if isinstance(facts.loop, While):
        return facts.loop.form == "for"
    return any(reason.rule in _NAMED for reason in facts.reasons)


def _of_function(facts: Facts, known: FunctionFacts, nests: tuple[Span, ...]) -> Iterator[tuple[Loop, Improved]]:
    prepared = localized(Prepared(facts, facts.briefly()), known.function.symbol, nests)
    if not prepared.applied:
        return
    after = prepared.facts.of(_function(prepared, known.function.symbol))
    twins = fallback_loops(after.function)
    doubled = {f.loop.span for f in after.loops if id(f.loop) in twins}
    rewritten = _by_text([f for f in after.loops if id(f.loop) not in twins])
    for (span, number), old in _by_text(known.loops).items():
        new = rewritten.get((span, number))
        if new is not None and new.loop is not old.loop and _is_better(new, old):
            steps = tuple(dict.fromkeys(applied.text for applied in prepared.steps_of(span)))
            yield old.loop, Improved(new, steps, span in doubled)


def _by_text(known: Sequence[LoopFacts]) -> dict[tuple[Span, int], LoopFacts]:
    """Return loops by their text; several of one text, a macro's, in their order."""
    found: dict[tuple[Span, int], LoopFacts] = {}
    met: dict[Span, int] = {}
    for facts in known:
        number = met.get(facts.loop.span, 0)
        met[facts.loop.span] = number + 1
        found[facts.loop.span, number] = facts
    return found


def _is_better(new: LoopFacts, old: LoopFacts) -> bool:
    if new.category == "parallel" and not isinstance(new.verdict, Proved):
        return False
    return RANK.index(new.category) < RANK.index(old.category)


def _function(prepared: Prepared, symbol: Symbol) -> Function:
    return next(function for _, function in prepared.program.functions() if function.symbol == symbol)
