"""The report on the user's pragmas: each claim gets one word.

confirmed       proved: with these clauses the iterations may run on any threads
refuted         wrong, with the iterations that show it
assumed         open: the port rests on the user's word, and the referee tests it
not proved      open, and nothing rests on it
not understood  a clause that is not known stands in it
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from warpsmith.base.findings import Finding, Note
from warpsmith.base.verdict import Proved, Reason, Refuted, Unknown
from warpsmith.poly.facts import ClaimFacts, FunctionFacts, LoopFacts

__all__ = ["ClaimWord", "claim_finding", "claim_findings", "claim_reasons", "claim_word"]

ClaimWord = Literal["confirmed", "refuted", "assumed", "not proved", "not understood"]


def claim_word(one: ClaimFacts) -> ClaimWord:
    """Return the word for a claim."""
    match one.verdict:
        case Proved():
            return "confirmed"
        case Refuted():
            return "refuted"
        case Unknown():
            if not one.understood:
                return "not understood"
            return "assumed" if one.granted is not None else "not proved"


def claim_findings(functions: Sequence[FunctionFacts], after: Sequence[FunctionFacts] = ()) -> tuple[Finding, ...]:
    """Return the findings about every claim of a program, in source order; `after`: what is known after steps, which
    may prove what is open in the loop as it is written."""
    found: dict[tuple[str, int], Finding] = {}
    for one in _claims((*functions, *after)):
        key = one.claim.span.file.path, one.claim.span.start
        known = found.get(key)
        # a claim of several loops is granted for those that need it
        if known is None or (one.granted is not None and known.rule == "CLM002"):
            found[key] = claim_finding(one)
    for key, one in _later(functions, after).items():
        if found[key].rule in ("CLM002", "CLM003") and (one.granted is None or found[key].rule == "CLM003"):
            found[key] = claim_finding(one, stands=" in the form that steps give its loop")
    return tuple(found.values())


def _later(functions: Sequence[FunctionFacts], after: Sequence[FunctionFacts]) -> dict[tuple[str, int], ClaimFacts]:
    """Return the claims that are proved after steps, and those on which a port rests then. What a step has written
    anew (`for nowait` as `parallel for`, where one thread runs the region around it) says nothing of the user's."""
    every = list(_claims(after))
    written = {(c.claim.span.file.path, c.claim.span.start, c.claim.text) for c in _claims(functions)}
    proved = (c for c in every if isinstance(c.verdict, Proved))
    used = [c for c in every if c.granted is not None]
    used += (c for c in proved if (c.claim.span.file.path, c.claim.span.start, c.claim.text) in written)
    return {(c.claim.span.file.path, c.claim.span.start): c for c in used}


def _claims(functions: Sequence[FunctionFacts]) -> Iterator[ClaimFacts]:
    for function in functions:
        for loop in function.loops:
            yield from loop.claims


def claim_finding(one: ClaimFacts, stands: str = "") -> Finding:
    """Return what is to be said of one claim, in words that say how it `stands`."""
    claim, word = one.claim, claim_word(one)
    head = f"'{claim.text}' is {word}{stands}"
    match one.verdict:
        case Proved(assumptions):
            how = "; ".join(a.text for a in assumptions)
            message = f"{head}{f', if {how}' if how else ''}"
            rests_on = tuple(a.text for a in assumptions)
            return Finding(
                "CLM004", "note", message, claim.span,
                certainty="conditional" if rests_on else "proven", assumptions=rests_on,
            )  # fmt: skip
        case Refuted(reasons):
            texts = "; ".join(r.text for r in reasons)
            helps = tuple(dict.fromkeys(h for r in reasons for h in r.legal_if))
            return Finding("CLM001", "warning", f"{head}: {texts}", claim.span, helps, tuple(_notes(reasons)))
        case Unknown(reasons):
            texts = "; ".join(dict.fromkeys(r.text for r in reasons))
            if word == "not understood":
                return Finding("CLM003", "warning", f"{head}: {texts}", claim.span)
            tail = ", so that the port rests on your word: the referee tests it" if word == "assumed" else ""
            return Finding("CLM002", "note", f"{head}: {texts}{tail}", claim.span, certainty="conditional")


def _notes(reasons: Sequence[Reason]) -> Iterator[Note]:
    for reason in reasons:
        dependence = reason.dependence
        if dependence is not None:
            yield Note(dependence.source, "written here" if dependence.kind != "anti" else "read here")
            yield Note(dependence.sink, "read here" if dependence.kind == "flow" else "written here")


def claim_reasons(loop: LoopFacts) -> tuple[Reason, ...]:
    """Return what is to be said of the claims that cover a loop, as reasons."""
    found: list[Reason] = []
    for one in loop.claims:
        finding = claim_finding(one)
        proofs = one.verdict.reasons if isinstance(one.verdict, Refuted) else ()
        dependence = next((r.dependence for r in proofs if r.dependence is not None), None)
        found.append(Reason(finding.rule, finding.message, finding.span, dependence, legal_if=finding.help))
    return tuple(found)
