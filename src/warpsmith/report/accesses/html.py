"""The access patterns of a nest as one HTML page: each reference with its matrix and a picture of what it touches."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from warpsmith.poly.patterns.model import ArrayReference
from warpsmith.poly.patterns.sample import SIZE
from warpsmith.report.accesses.model import AccessReport, SpaceEntry, note_words
from warpsmith.report.accesses.picture import PatternPicture, draw_pattern
from warpsmith.report.accesses.text import column_words, matrix_table, reference_words, space_words
from warpsmith.report.pages.page import page

__all__ = ["AccessSection", "access_section", "accesses_html"]


class _Shown(Struct, frozen=True):
    """One reference as the page has it; `place`: its line."""

    reference: ArrayReference
    place: str
    words: str
    said: Sequence[str]
    table: Sequence[Sequence[str]]
    picture: PatternPicture | None


class AccessSection(Struct, frozen=True):
    """The references of one run of loops; `source`: the headers of these loops, where no kernel was written."""

    head: str
    source: str
    notes: Sequence[str]
    references: Sequence[_Shown]
    blocks: str = ""


def accesses_html(report: AccessReport) -> str:
    """Return the report as one HTML document."""
    return page(
        "accesses/accesses.html", report=report, spaces=[access_section(entry) for entry in report.spaces], size=SIZE
    )


def access_section(entry: SpaceEntry) -> AccessSection:
    """Return one run of loops as a page has it."""
    space = entry.space
    loops = [counter.header.text for counter in space.counters if counter.loop and counter.header is not None]
    headers = "" if entry.figures else "\n".join("  " * depth + text for depth, text in enumerate(loops))
    head = column_words(space) if entry.figures else space_words(entry)
    return AccessSection(head, headers, note_words(entry), [_show(entry, r) for r in space.references], _blocks(entry))


def _blocks(entry: SpaceEntry) -> str:
    return " x ".join(map(str, entry.place.block)) if entry.place is not None else ""


def _show(entry: SpaceEntry, reference: ArrayReference) -> _Shown:
    words, *said = reference_words(entry, reference)
    place = f"line {reference.span.line}: " if reference.span is not None else ""
    return _Shown(reference, place, words, said, matrix_table(entry.space, reference), draw_pattern(reference))
