"""Why a loop that may run on the device has no kernel: the planner's own word, or what became of the loops around it.

    for (t …)         sequential
        for (i …)     left out: too few iterations for a launch in every t      ← the planner's word
            for (j …) was to run in that kernel                                 → stays with the loop at that line

Invariant: of a plan, every loop that is in a portable category and has no kernel has a reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from warpsmith.base.verdict import Reason
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.plan import Plan
from warpsmith.poly.facts import FunctionFacts, LoopFacts
from warpsmith.report.port.served import Served

__all__ = ["NOT_NAMED", "Staying"]

NOT_NAMED: Final = "it is not among the loops that were asked for"


class Staying(Struct, frozen=True):
    """`refused`: what the plan says, by the names of loops in the program after the steps."""

    prepared: Prepared
    served: Served
    refused: Mapping[str, Reason]

    @classmethod
    def of(cls, prepared: Prepared, served: Served, plan: Plan) -> Staying:
        """Read the refusals of a plan once."""
        return cls(prepared, served, {refusal.loop: refusal.reason for refusal in plan.refusals})

    def reason(self, function: FunctionFacts, facts: LoopFacts) -> Reason:
        """Return why a loop that has no kernel stays on the host."""
        return self._word(facts) or self._word_around(function, facts) or self._word_inside(function, facts)

    def _word(self, facts: LoopFacts) -> Reason | None:
        """Return what the plan says of a loop, or of what steps have made of it."""
        names = (facts.id, *(piece.id for piece in self.served.now.get(facts.loop.header, ())))
        return next((self.refused[name] for name in names if name in self.refused), None)

    def _word_around(self, function: FunctionFacts, facts: LoopFacts) -> Reason | None:
        """Return what keeps the nearest loop around a loop that the plan speaks of."""
        for outer in _find_around(function, facts):
            word = self._word(outer)
            if word is not None:
                text = f"it stays with the loop around it, at line {outer.loop.header.line}: {word.text}"
                return Reason(word.rule, text, facts.loop.header, legal_if=word.legal_if)
        return None

    def _word_inside(self, function: FunctionFacts, facts: LoopFacts) -> Reason:
        """Return which loop inside has the kernel instead, or that nobody has planned one."""
        span, place = facts.loop.span, facts.loop.header
        inner = (f for f in function.loops if f is not facts and span.contains(f.loop.span))
        ported = next((f for f in inner if self.served.kernel(f.loop) is not None), None)
        if ported is not None:
            text = f"it launches the kernel of the loop inside it, at line {ported.loop.header.line}"
            return Reason("POR002", text, place)
        holder = self.served.holder_of_statements(facts.loop)
        if holder is not None:
            text = f"the host counts its iterations; its statements run in {holder.kernel.name}"
            return Reason("POR002", text, place)
        steps = tuple(dict.fromkeys(applied.text for applied in self.prepared.steps_of(span)))
        if steps:
            return Reason("POR002", f"no kernel comes of it after {', '.join(steps)}", place)
        told = next(((f, word) for f in function.loops if (word := self._word_below(facts, f)) is not None), None)
        if told is not None:
            text = f"it stays with the loop inside it, at line {told[0].loop.header.line}: {told[1].text}"
            return Reason(told[1].rule, text, place, legal_if=told[1].legal_if)
        return Reason("POR002", self._word_unasked(facts), place)

    def _word_below(self, facts: LoopFacts, other: LoopFacts) -> Reason | None:
        """Return what the plan says of another loop, where that is inside of this one."""
        return self._word(other) if other is not facts and facts.loop.span.contains(other.loop.span) else None

    def _word_unasked(self, facts: LoopFacts) -> str:
        """Return that a loop was not asked for: by pragmas that mark regions, or by name."""
        regions = [region for unit in self.prepared.original.program.units for region in unit.pragmas]
        if regions and not any(region.contains(facts.loop.span) for region in regions):
            return "it is outside of the regions that pragmas mark"
        return NOT_NAMED


def _find_around(function: FunctionFacts, facts: LoopFacts) -> Sequence[LoopFacts]:
    """Return the loops around a loop, the innermost first."""
    span = facts.loop.span
    around = [f for f in function.loops if f is not facts and f.loop.span.contains(span) and f.depth < facts.depth]
    return sorted(around, key=lambda f: -f.depth)
