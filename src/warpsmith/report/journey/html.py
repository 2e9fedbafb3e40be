"""A journey as one HTML page: what came of all comparisons, and every stage with its texts."""

from __future__ import annotations

from msgspec import Struct

from warpsmith.report.journey.model import VERDICTS, Journey
from warpsmith.report.journey.sections import ShownSection, closing_line, sections
from warpsmith.report.pages.page import page

__all__ = ["journey_html"]


class _Cell(Struct, frozen=True):
    """A cell; `kind`: the verdict that it is, "refused", or "" for all others."""

    text: str
    kind: str = ""


class _Table(Struct, frozen=True):
    """A table; the first `names` columns are names."""

    header: tuple[str, ...]
    rows: tuple[tuple[_Cell, ...], ...]
    names: int


class _Part(Struct, frozen=True):
    """A stage; `number` of it, `tables` with marked cells."""

    number: int
    section: ShownSection
    tables: tuple[_Table, ...]


def journey_html(made: Journey) -> str:
    """Return a journey as one document."""
    parts = [_part(number, one) for number, one in enumerate(sections(made), 1)]
    return page(
        "journey/journey.html", subject=made.subject, closing=closing_line(made), parts=parts, wrong=made.differs,
        seconds=sum(stage.seconds for stage in made.stages),
    )  # fmt: skip


def _part(number: int, section: ShownSection) -> _Part:
    tables = tuple(
        _Table(one.header, tuple(tuple(map(_cell, row)) for row in one.rows), one.names) for one in section.tables
    )
    return _Part(number, section, tables)


def _cell(text: str) -> _Cell:
    kind = next(
        (word for word in (*VERDICTS, "refused") if text == word or text.startswith((f"{word}, ", f"{word} in"))), ""
    )
    return _Cell(text, kind.replace(" ", "-"))
