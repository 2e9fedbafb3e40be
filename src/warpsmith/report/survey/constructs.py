"""Names for what keeps a loop on the host: the table constructs.toml, asked about a reason."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Sequence
from importlib import resources

from warpsmith.report.survey.model import PORTABLE, Blocker, SurveyLoop, SurveyReason

__all__ = ["blockers", "construct"]


@functools.cache
def _table() -> tuple[tuple[str, re.Pattern[str], str], ...]:
    text = resources.files("warpsmith.report.survey").joinpath("constructs.toml").read_text("utf-8")
    entries = tomllib.loads(text)["construct"]
    return tuple((entry.get("rule", ""), re.compile(entry["pattern"]), entry["name"]) for entry in entries)


def construct(category: str, label: str, reasons: Sequence[SurveyReason]) -> str:
    """Return what keeps a loop on the host, "" where nothing does."""
    if not reasons or (category in PORTABLE and reasons[0].rule != "POR006"):
        return ""
    return _name_construct(label, reasons[0].rule, reasons[0].text)


@functools.lru_cache(maxsize=4096)
def _name_construct(label: str, code: str, text: str) -> str:
    if label in ("while", "do") and text.startswith("not a counted loop"):
        return f"{label} loop of unknown length"
    for rule, pattern, name in _table():
        found = pattern.search(text) if rule in ("", code) else None
        if found is not None:
            return found.expand(name)
    return text


def blockers(loops: Sequence[SurveyLoop]) -> tuple[Blocker, ...]:
    """Return the constructs that block it, those with the most work first; each with its heaviest loop."""
    groups: dict[str, list[SurveyLoop]] = {}
    for loop in loops:
        if loop.construct:
            groups.setdefault(loop.construct, []).append(loop)
    made = [
        Blocker(name, len(found), min(1.0, sum(loop.own for loop in found)), max(found, key=lambda one: one.own).spot)
        for name, found in groups.items()
    ]
    return tuple(sorted(made, key=lambda b: (-b.share, -b.count, b.construct)))
