"""Asking many steps about many functions with one parse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.loops.steps.twins import Stand, function_text, stands
from warpsmith.base.verdict import Proved, Reason, Refuted, Unknown, Verdict
from warpsmith.loops.step import Step

Asked = tuple[str, Callable[[str], Step]]


def verdicts(cases: dict[str, Asked], folder: Path) -> dict[str, tuple[str, str, Verdict]]:
    """Return for every case the rule (or "" where it is Proved), the reason's words and the verdict."""
    names = {case: f"F{k}" for k, case in enumerate(cases)}
    found = stands("\n".join(function_text(names[c], body) for c, (body, _) in cases.items()), folder)
    result: dict[str, tuple[str, str, Verdict]] = {}
    for case, (_, make) in cases.items():
        verdict = found[names[case]].check(make(names[case]))
        reason = first_reason(verdict)
        result[case] = ("", "", verdict) if reason is None else (reason.rule, reason.text, verdict)
    return result


Misfits = dict[str, tuple[str, Asked]]
"""For every case, words of the reason, and what is asked."""


def wrongly_answered(cases: Misfits, folder: Path, rule: str = "STP002") -> dict[str, tuple[str, str]]:
    """Return the cases that are not refused by this rule in these words, with what is said instead."""
    found = verdicts({case: asked for case, (_, asked) in cases.items()}, folder)
    return {case: (said, text) for case, (said, text, _) in found.items() if said != rule or cases[case][0] not in text}


def first_reason(verdict: Verdict) -> Reason | None:
    match verdict:
        case Proved():
            return None
        case Refuted(reasons=reasons) | Unknown(reasons=reasons):
            return reasons[0]


def one(body: str, folder: Path, name: str = "F") -> Stand:
    """Return a function with this body."""
    return stands(function_text(name, body), folder)[name]
