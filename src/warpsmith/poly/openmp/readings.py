"""Loops that a construct was read as, over teams and their threads (`front/teams/`): what their verdicts rest on.

    for team …                       parallel, granted: full_teams(f)
        for t … s[t + 1] = s[t];     refuted: a race between threads of a team, whatever order the loop has

Invariant: the loops over threads run in one of the orders that OpenMP allows. Where a claim about one of them is
refuted, other orders leave something else behind: then no loop of the construct, nor around it, is ported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from warpsmith.base.verdict import Proved, Reason, Refuted, Unknown, Verdict
from warpsmith.poly.facts import ClaimFacts, LoopFacts
from warpsmith.tree.nodes import Loop
from warpsmith.tree.program import Assumption

__all__ = ["with_reading"]

Around = Mapping[Loop, tuple[Loop, ...]]


def with_reading(loop: LoopFacts, judged: Sequence[ClaimFacts], around: Around) -> LoopFacts:
    """Return the facts of a loop with what follows from how its construct, or one inside it, was read."""
    read = [one for one in judged if one.claim.pragma.reading is not None]
    mine = [*_related(loop.loop, read, around)] if read else []
    if not mine:
        return loop
    wrong = next((one for one in mine if isinstance(one.verdict, Refuted)), None)
    if wrong is not None:
        return _not_ported(loop, wrong)
    texts = sorted({text for one in mine for text in one.claim.pragma.reading or ()})
    granted = tuple(Assumption(text, "granted", None, mine[0].claim.span) for text in texts)
    combined = None if loop.combined is None else _resting(loop.combined, granted)
    return replace(loop, verdict=_resting(loop.verdict, granted), combined=combined)


def _related(loop: Loop, read: Sequence[ClaimFacts], around: Around) -> Iterator[ClaimFacts]:
    """Yield the claims about the loops of a construct that `loop` stands in, or that stands in `loop`."""
    marked = {id(one.claim.marked) for one in read}
    here = (*around[loop], loop)
    team = next((outer for outer in here if id(outer) in marked), loop)
    yield from (one for one in read if one.claim.marked is team or team in around[one.claim.marked])


def _resting(verdict: Verdict, granted: tuple[Assumption, ...]) -> Verdict:
    if not isinstance(verdict, Proved):
        return verdict
    return replace(verdict, assumptions=tuple(dict.fromkeys((*verdict.assumptions, *granted))))


def _not_ported(loop: LoopFacts, wrong: ClaimFacts) -> LoopFacts:
    """Return the facts of a loop whose threads, or those of a construct in it, run into each other."""
    assert not isinstance(wrong.verdict, Proved)
    first = wrong.verdict.reasons[0]
    text = f"threads of one team, or its teams, run into each other: {first.text}"
    reason = Reason("CLM001", text, first.span, first.dependence)
    return replace(
        loop, category="unanalyzable", verdict=Unknown((reason,)), combined=None, reductions=(), reasons=(reason,)
    )
