"""A search for a faster port as JSON: every candidate, times in seconds, all of them predicted."""

from __future__ import annotations

from warpsmith.base.source import readable
from warpsmith.report.json_parts import Json
from warpsmith.report.search.text import is_taken
from warpsmith.report.searched import PortSearch, SearchCandidate, SearchGain

__all__ = ["search_json"]


def search_json(found: PortSearch) -> Json:
    """Return the whole search."""
    return {
        "label": "predicted",
        "device": found.device.name,
        "default_seconds": found.default,
        "best_seconds": found.best,
        "steps": [readable(step) for step in found.steps],
        "gains": [_gain(gain) for gain in found.gains],
        "candidates": [_candidate(found, one) for one in found.candidates],
        "budget_seconds": found.budget,
        "ended_by_budget": found.ended,
        "known_from_earlier": found.earlier,
        "assumed": {readable(name): value for name, value in found.assumed},
        "lacking": [{"about": readable(region), "why": readable(why)} for region, why in found.lacking],
        "rejected": readable(found.rejected),
    }


def _gain(gain: SearchGain) -> Json:
    return {
        "about": readable(gain.about),
        "before_seconds": gain.before,
        "after_seconds": gain.after,
        "steps": [readable(step) for step in gain.steps],
    }


def _candidate(found: PortSearch, one: SearchCandidate) -> Json:
    return {
        "about": readable(one.about),
        "after": [readable(step) for step in one.after],
        "steps": [readable(step) for step in one.steps],
        "seconds": one.seconds,
        "bound": readable(one.bound),
        "more_sectors_or_instructions": one.more,
        "refused": one.refused,
        "why": readable(one.why),
        "taken": is_taken(found, one),
    }
