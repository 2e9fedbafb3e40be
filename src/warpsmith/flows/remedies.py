"""A loop that was asked for and stays on the host: what steps would do for it, tried and not guessed."""

from __future__ import annotations

from dataclasses import replace

from warpsmith.base.findings import Finding
from warpsmith.loops.remedies import remedy
from warpsmith.offload.plan import Plan
from warpsmith.poly.analyze import Facts
from warpsmith.tree.nodes import For, Loop

__all__ = ["with_remedies"]


def with_remedies(plan: Plan, facts: Facts, selected: tuple[Loop, ...] | None) -> Plan:
    """Return the plan whose errors on `selected` loops of the user say which step helps, or that none does."""
    findings = tuple(_with_remedy(finding, facts, selected or ()) for finding in plan.findings)
    return replace(plan, findings=findings)


def _with_remedy(finding: Finding, facts: Facts, selected: tuple[Loop, ...]) -> Finding:
    if finding.severity != "error":
        return finding
    for loop in selected:
        if not isinstance(loop, For) or loop.header != finding.span:
            continue
        if facts.loop(loop).category in ("sequential", "unanalyzable"):
            return replace(finding, help=(*finding.help, remedy(facts, loop).text))
    return finding
