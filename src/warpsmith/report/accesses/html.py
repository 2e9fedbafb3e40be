"""The access patterns of a nest as one HTML page: each reference with its matrix and a picture of what it touches."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from warpsmith.poly.patterns.model import ArrayReference
from warpsmith.poly.patterns.sample import SIZE
from warpsmith.report.accesses.model import AccessReport, SpaceEntry, group_words, sharing_words
from warpsmith.report.accesses.picture import PatternPicture, draw_pattern
from warpsmith.report.accesses.text import matrix_table, reference_words, space_words
from warpsmith.report.pages.page import page

__all__ = ["accesses_html"]


class _Shown(Struct, frozen=True):
    """One reference as the page has it."""

    reference: ArrayReference
    words: str
    said: Sequence[str]
    table: Sequence[Sequence[str]]
    picture: PatternPicture | None


class _Section(Struct, frozen=True):
    """The references of one run of loops; `source`: the headers of these loops."""

    head: str
    source: str
    notes: Sequence[str]
    references: Sequence[_Shown]


def accesses_html(report: AccessReport) -> str:
    """Return the report as one HTML document."""
    return page("accesses/accesses.html", report=report, spaces=[_section(entry) for entry in report.spaces], size=SIZE)


def _section(entry: SpaceEntry) -> _Section:
    space = entry.space
    notes = [group_words(entry, group) for group in space.groups]
    notes += [words] if (words := sharing_words(space)) else []
    headers = "\n".join("  " * depth + counter.header.text for depth, counter in enumerate(space.counters))
    return _Section(space_words(entry), headers, notes, [_show(entry, r) for r in space.references])


def _show(entry: SpaceEntry, reference: ArrayReference) -> _Shown:
    words, *said = reference_words(entry, reference)
    return _Shown(reference, words, said, matrix_table(entry.space, reference), draw_pattern(reference))
