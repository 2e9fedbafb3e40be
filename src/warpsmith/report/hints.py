"""Hints as reasons of a loop and as JSON; what a hint is, and that it was tried, see loops/remedies/model.py."""

from __future__ import annotations

from typing import assert_never

from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.loops.remedies.model import (
    ApplySteps,
    EditCode,
    GrantAssumption,
    Hint,
    Remedy,
    StepTrial,
    UseOption,
    diff_text,
    remedy_text,
)
from warpsmith.poly.facts import Category
from warpsmith.report.json_parts import Json

__all__ = ["hint_json", "hint_reason", "hint_text", "step_reason"]

_RULES: dict[Category, str] = {"parallel": "POR001", "reduction": "POR002", "scan": "POR002"}
_THEN: dict[Category, str] = {"parallel": "is parallel", "reduction": "is a reduction", "scan": "is a scan"}


def hint_reason(hint: Hint, span: Span) -> Reason:
    """Return a hint as a reason of its loop, which has the remedies as its help."""
    text = f"with {_what(hint)} it {_then(hint)} (tried on a copy)"
    return Reason(_RULES.get(hint.then, "POR003"), text, span, legal_if=tuple(map(remedy_text, hint.remedies)))


def hint_text(hint: Hint) -> str:
    """Return a hint in one text."""
    return "\n".join([f"with {_what(hint)} it {_then(hint)} (tried on a copy):", *map(remedy_text, hint.remedies)])


def _what(hint: Hint) -> str:
    return "this" if len(hint.remedies) == 1 else f"all {len(hint.remedies)} of these"


def _then(hint: Hint) -> str:
    return "becomes a kernel" if hint.ported else _THEN.get(hint.then, hint.then)


def step_reason(trial: StepTrial, span: Span) -> Reason:
    """Return what came of trying single steps."""
    return Reason("POR003", trial.text, span)


def hint_json(hint: Hint) -> Json:
    """Return a hint as JSON: what to do, in its order, and the category of the loop then."""
    return {"then": hint.then, "remedies": [_remedy(remedy) for remedy in hint.remedies]}


def _remedy(remedy: Remedy) -> Json:
    match remedy:
        case GrantAssumption(text):
            return {"kind": "assumption", "text": text}
        case ApplySteps(steps, _):
            return {"kind": "steps", "steps": list(steps)}
        case EditCode(title, edits, effect, requires):
            entry: Json = {"kind": "edit", "title": title, "diff": diff_text(edits), "same_results": not effect}
            return entry | ({"effect": effect} if effect else {}) | ({"requires": list(requires)} if requires else {})
        case UseOption(option, text):
            return {"kind": "option", "option": option, "text": text}
        case _:
            assert_never(remedy)
