"""The report on data directives: what is wrong with them, and what a port takes their word for."""

from __future__ import annotations

from msgspec.structs import replace

from warpsmith.base.findings import Certainty, Finding
from warpsmith.base.verdict import Proved, Refuted
from warpsmith.poly.analyze import Facts
from warpsmith.poly.mapped.judge import MappedData, judge_mapped
from warpsmith.tree.program import Assumption

__all__ = ["mapped_findings"]


def mapped_findings(facts: Facts) -> tuple[Finding, ...]:
    """Return the findings about the data directives of a program as the user wrote it, in source order."""
    found = [finding for one in judge_mapped(facts) for finding in _findings(facts, one)]
    return tuple(dict.fromkeys(sorted(found, key=lambda f: f.span.start if f.span is not None else 0)))


def _findings(facts: Facts, one: MappedData) -> list[Finding]:
    if isinstance(one.verdict, Proved):
        taken = [
            Finding("CLM002", "note", f"the data directives are assumed to be right in {wrong.text}", wrong.span,
                    certainty="conditional")
            for wrong in one.assumed
        ]  # fmt: skip
        given = tuple(a.text for a in one.verdict.assumptions)
        text = f"the data directives that {one.root.symbol.name} executes are right if {' and '.join(given)}"
        rests = Finding("CLM002", "note", text, one.root.symbol.span, certainty="conditional", assumptions=given)
        return [*taken, rests] if given else taken
    certainty: Certainty = "proven" if isinstance(one.verdict, Refuted) else "conditional"
    said = _find_decisive(facts, one, {text for reason in one.verdict.reasons for text in reason.settled_by})
    return [
        Finding("CLM005", "warning", reason.text, reason.span, (*reason.legal_if, *said), certainty=certainty)
        for reason in one.verdict.reasons
    ]


def _find_decisive(facts: Facts, one: MappedData, texts: set[str]) -> tuple[str, ...]:
    """Return what to say of those facts each of which makes the directives right."""
    found: list[str] = []
    for text in sorted(texts):
        granted = (*facts.options.granted, Assumption(text, "granted"))
        judged = judge_mapped(Facts.about(facts.program, replace(facts.options, granted=granted)))
        if any(other.root is one.root and isinstance(other.verdict, Proved) for other in judged):
            found.append(f"the directives are right if {text}: --assume '{text}'")
    return tuple(found)
