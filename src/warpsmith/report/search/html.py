"""A search for a faster port as one HTML page: what it gained, and every candidate."""

from __future__ import annotations

from msgspec import Struct

from warpsmith.report.analysis.predicted import seconds_text
from warpsmith.report.pages.page import page
from warpsmith.report.search.text import (
    about_text,
    candidate_groups,
    gain_row,
    is_taken,
    outcome_text,
    summary_lines,
)
from warpsmith.report.searched import PortSearch, SearchCandidate

__all__ = ["search_html"]


class _Row(Struct, frozen=True):
    """One candidate as the page has it; `share`: its time in hundredths of the longest of its part."""

    steps: str
    seconds: str
    share: float
    words: str
    taken: bool


class _Part(Struct, frozen=True):
    """The candidates of whole ports, or of one nest."""

    about: str
    rows: tuple[_Row, ...]


def search_html(found: PortSearch, inputs: tuple[str, ...]) -> str:
    """Return the search as one HTML document."""
    parts = [_part(found, about, group) for about, group in candidate_groups(found)]
    gains = [gain_row(gain) for gain in found.gains]
    title = ", ".join(inputs)
    return page("search/search.html", title=title, lines=list(summary_lines(found)), gains=gains, parts=parts)


def _part(found: PortSearch, about: str, group: list[SearchCandidate]) -> _Part:
    longest = max((one.seconds for one in group if one.seconds is not None), default=0.0)
    return _Part(about_text(about), tuple(_row(found, one, longest) for one in group))


def _row(found: PortSearch, one: SearchCandidate, longest: float) -> _Row:
    timed = one.seconds is not None and longest
    return _Row(
        " ".join((*one.after, *one.steps)),
        "-" if one.seconds is None else seconds_text(one.seconds),
        100.0 * (one.seconds or 0.0) / longest if timed else 0.0,
        outcome_text(one),
        is_taken(found, one),
    )
