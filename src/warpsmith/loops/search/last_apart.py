"""Loops whose last iteration gives a variable its value (`lastprivate`), before the search: that iteration is written
behind the others, which may be a kernel then.

Invariant: every step was Proved on the program that it is applied to. Loops inside `left` stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec.structs

from warpsmith.base.errors import RefusedError
from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved
from warpsmith.loops.place import LoopContext
from warpsmith.loops.prepared import Applied, Prepared
from warpsmith.loops.step import check_step, rewrite_program
from warpsmith.loops.writing.pragma_lines import run_with_pragmas
from warpsmith.poly.claimed import claims_of
from warpsmith.poly.facts import LoopFacts, statement_spans
from warpsmith.tree.nodes import For
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import loops

__all__ = ["last_apart"]


def last_apart(prepared: Prepared, selected: Sequence[Span] | None, left: frozenset[Span]) -> Prepared:
    """Return `prepared` with the last iteration apart of every one of the `selected` loops (None: of all) that says
    `lastprivate` of a variable that is read after it."""
    done: set[Span] = set()
    while (found := _next(prepared, selected, left, done)) is not None:
        symbol, own = found
        done.add(own.loop.span)
        prepared = _apply_peel(prepared, symbol, own)
    return prepared


def _next(
    prepared: Prepared, selected: Sequence[Span] | None, left: frozenset[Span], done: set[Span]
) -> tuple[Symbol, LoopFacts] | None:
    """Return the next loop to work on with its function."""
    facts = prepared.facts
    for _, function in facts.program.functions():
        covered = {id(loop) for claim in claims_of(function) if claim.lastprivate for loop in claim.loops}
        for loop in [loop for loop, _ in loops(function.body) if id(loop) in covered]:
            span = loop.span
            if span in done or any(span.contains(other) or other.contains(span) for other in left):
                continue
            if selected is None or any(s.contains(span) for s in selected):
                own = facts.of(function).of(loop)
                if _waits_for_last(own):
                    return function.symbol, own
    return None


def _waits_for_last(own: LoopFacts) -> bool:
    """Whether only a value that the last iteration leaves stands in the way of a kernel."""
    listed = {symbol for one in own.claims for symbol in one.claim.lastprivate}
    return isinstance(own.loop, For) and isinstance(own.verdict, Proved) and bool(listed.intersection(own.live_out))


def _apply_peel(prepared: Prepared, symbol: Symbol, own: LoopFacts) -> Prepared:
    # steps are loaded where one is tried
    from warpsmith.loops.steps.order.peel import Peel

    facts = prepared.facts
    step = Peel(own.id, last=1)
    try:
        place = LoopContext.of(facts.program, step.loop)
        verdict = check_step(step, facts.program, facts)
    except RefusedError:
        return prepared
    if place.loop is not own.loop or not isinstance(verdict, Proved):
        return prepared
    span = statement_spans(run_with_pragmas(place))
    after = facts.after(rewrite_program(step, facts.program))
    return msgspec.structs.replace(
        prepared, facts=after, applied=(*prepared.applied, Applied(step, verdict, symbol, span))
    )
