"""The report on data directives: what is wrong with them, and what a port takes their word for."""

from __future__ import annotations

from warpsmith.base.findings import Certainty, Finding
from warpsmith.base.verdict import Proved, Refuted
from warpsmith.poly.analyze import Facts
from warpsmith.poly.mapped.judge import MappedData, judge_mapped

__all__ = ["mapped_findings"]


def mapped_findings(facts: Facts) -> tuple[Finding, ...]:
    """Return the findings about the data directives of a program as the user wrote it, in source order."""
    found = [finding for one in judge_mapped(facts) for finding in _findings(one)]
    return tuple(dict.fromkeys(sorted(found, key=lambda f: f.span.start if f.span is not None else 0)))


def _findings(one: MappedData) -> list[Finding]:
    if isinstance(one.verdict, Proved):
        taken = [
            Finding("CLM002", "note", f"the data directives are assumed to be right in {wrong.text}", wrong.span,
                    certainty="conditional")
            for wrong in one.assumed
        ]  # fmt: skip
        given = tuple(a.text for a in one.verdict.assumptions)
        text = f"the data directives that {one.root.symbol.name} executes are right if {' and '.join(given)}"
        said = Finding("CLM002", "note", text, one.root.symbol.span, certainty="conditional", assumptions=given)
        return [*taken, *([said] if given else [])]
    certainty: Certainty = "proven" if isinstance(one.verdict, Refuted) else "conditional"
    return [
        Finding("CLM005", "warning", reason.text, reason.span, reason.legal_if, certainty=certainty)
        for reason in one.verdict.reasons
    ]
