"""Loops that were asked for and stay on the host: what would change that, each of it tried and not guessed.

sequential, unanalyzable      the remedies of flows/hints/remedies.py; single steps where none of them helps
parallel, but not planned     facts that the refusal says would settle it: granted, planned again
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.flows.hints.remedies import Inputs, hints
from warpsmith.loops.remedies.model import GrantAssumption, Hint
from warpsmith.loops.remedies.steps import allocation_refusals, count_refusal, step_trial
from warpsmith.offload.plan import Plan
from warpsmith.poly.analyze import Facts, analyze
from warpsmith.poly.openmp.apply_claims import apply_claims
from warpsmith.report.hints import hint_text
from warpsmith.tree.nodes import For, Loop, While
from warpsmith.tree.program import Assumption
from warpsmith.tree.walk import loops

__all__ = ["Trials", "with_remedies"]

_MOST_PLANS = 4


class Trials(Struct, frozen=True):
    """How a copy of the program is judged and planned: what it was read from, and the plan for other facts."""

    inputs: Inputs
    plan: Callable[[Facts], Plan]


def with_remedies(plan: Plan, facts: Facts, selected: tuple[Loop, ...] | None, trials: Trials) -> Plan:
    """Return the plan whose errors on `selected` loops of the user say what helps, or that no step does."""
    findings = tuple(_with_remedy(finding, plan, facts, (selected or (), trials)) for finding in plan.findings)
    return replace(plan, findings=findings)


def _with_remedy(finding: Finding, plan: Plan, facts: Facts, asked: tuple[tuple[Loop, ...], Trials]) -> Finding:
    selected, trials = asked
    loop = next((one for one in selected if one.header == finding.span), None)
    if finding.severity != "error" or loop is None:
        return finding
    known = facts.loop(loop)
    found = hints(facts, loop, trials.inputs)
    texts = tuple(map(hint_text, found))
    if not texts and known.category not in ("sequential", "unanalyzable"):
        texts = tuple(hint_text(hint) for hint in _find_granted(plan, facts, loop, trials))
    elif not texts and isinstance(loop, For):
        texts = (*(why.text for why in allocation_refusals(facts, loop)), step_trial(facts, loop).text)
    elif not texts and isinstance(loop, While) and (why := count_refusal(facts, loop)) is not None:
        texts = (why.text,)
    return replace(finding, help=(*finding.help, *texts))


def _find_granted(plan: Plan, facts: Facts, loop: Loop, trials: Trials) -> Iterator[Hint]:
    """Yield what, granted one after the other, makes a plan with a kernel for the loop, or for one inside it."""
    own = {facts.loop(inner).id for inner, _ in loops(loop)}
    granted: list[str] = []
    for _ in range(_MOST_PLANS):
        settled = (text for r in plan.refusals if r.loop in own for text in r.reason.settled_by)
        following = next((text for text in settled if text not in granted), None)
        if following is None:
            return
        granted.append(following)
        added = tuple(Assumption(text, "granted") for text in granted)
        options = replace(facts.options, granted=(*facts.options.granted, *added))
        plan = trials.plan(analyze(facts.program, options, apply_claims))
        if _is_ported(plan, loop.span):
            yield Hint(tuple(map(GrantAssumption, granted)), "parallel", ported=True)
            return


def _is_ported(plan: Plan, span: Span) -> bool:
    spans = (inner.span for f in plan.fragments for s in f.statements for inner, _ in loops(s))
    return any(span.contains(inner) for inner in spans)
