"""The category of a user's loop once the steps have been tried: the one answer that every list of loops gives.

    as written: sequential, a flow dependence    ── distribute ──►    parallel-after, and why it was not as written

Invariant: a promise rests on a verdict about every loop that the steps have made of the user's; where they have left
none, or of one nothing is known, the loop is what it is as written.
"""

from __future__ import annotations

from typing import Final, assert_never

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.verdict import Assumed, Proved, Reason, Refuted, Unknown
from warpsmith.loops.prepared import Prepared
from warpsmith.poly.effects.device import host_call
from warpsmith.poly.facts import Category, LoopFacts
from warpsmith.report.port.claims import claim_reasons
from warpsmith.report.port.served import Served
from warpsmith.report.survey.model import PORTABLE
from warpsmith.tree.nodes import Loop
from warpsmith.tree.program import Assumption

__all__ = ["BEST_FIRST", "LoopWord", "loop_word", "unplanned_reasons"]

BEST_FIRST: Final = ("parallel", "parallel-after", "reduction", "scan", "sequential", "unanalyzable")


class LoopWord(Struct, frozen=True):
    """The category of a loop, why, what that rests on, and the steps that it takes (`--transform` reads them)."""

    category: Category
    reasons: tuple[Reason, ...]
    assumptions: tuple[Assumed, ...]
    steps: tuple[str, ...] = ()


def loop_word(prepared: Prepared, served: Served, facts: LoopFacts) -> LoopWord:
    """Return what is known of a loop of the user's program after the steps."""
    word = _after(prepared, served, facts) if prepared.applied and facts.category != "parallel" else None
    word = word or LoopWord(facts.category, facts.reasons, _conditions(facts))
    # what a reason by itself says would help was not tried
    return replace(word, reasons=tuple(replace(reason, legal_if=()) for reason in word.reasons))


def unplanned_reasons(prepared: Prepared, facts: LoopFacts, word: LoopWord) -> tuple[Reason, ...]:
    """Return why a loop is in its category where no plan says what becomes of it: first a call that keeps it on the
    host all the same, last what is to be said of the pragmas that cover it."""
    host = host_call(prepared.original.summaries, facts.loop) if word.category in PORTABLE else None
    return (*filter(None, [host]), *word.reasons, *claim_reasons(facts))


def _after(prepared: Prepared, served: Served, facts: LoopFacts) -> LoopWord | None:
    """Return what the steps have made of a loop, where that is better."""
    loop = facts.loop
    steps = tuple(dict.fromkeys(applied.text for applied in prepared.steps_of(loop.span)))
    assumed = _rests_on(prepared, served, loop)
    if served.is_made_parallel(loop):
        reason = Reason("POR001", f"parallel after {', '.join(steps)}", loop.header)
        return LoopWord("parallel-after", (reason, *facts.reasons), assumed, steps)
    if facts.category not in ("unanalyzable", "sequential"):
        return None
    if combined := served.find_combined(loop):
        first = combined.reasons[0]
        reason = Reason(first.rule, f"{first.text}, after {', '.join(steps)}", loop.header)
        return LoopWord(combined.category, (reason, *facts.reasons), assumed, steps)
    ordered = served.find_ordered(loop) if facts.category == "unanalyzable" else None
    return LoopWord(ordered.category, ordered.reasons, assumed, steps) if ordered else None


def _rests_on(prepared: Prepared, served: Served, loop: Loop) -> tuple[Assumed, ...]:
    """Return what the verdicts on a loop's pieces, and the steps that made them, rest on."""
    steps = prepared.steps_of(loop.span)
    found: list[Assumed] = [a for piece in served.now.get(loop.header, ()) for a in _conditions(piece)]
    found += (a for step in steps for a in step.assumptions)
    if loop.span in served.tested:
        texts = dict.fromkeys(step.text for step in steps)
        found.append(Assumption(f"the test before the loop, of {' and '.join(texts)}, holds", "guarded"))
    return tuple({(a.text, a.kind): a for a in found}.values())


def _conditions(facts: LoopFacts) -> tuple[Assumed, ...]:
    match facts.verdict:
        case Proved(assumptions) | Unknown(_, assumptions):
            return assumptions
        case Refuted():
            return ()
        case _:
            assert_never(facts.verdict)
