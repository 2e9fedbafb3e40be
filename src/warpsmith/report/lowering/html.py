"""Text of machines side by side: a line of the user's and all that is of it are shown together when one is pointed at.

source                 gcn gfx900                     avx512
7  part[t] = in[t];    7  v_lshlrev_b32_e32 v1, 2, v0    7  vpgatherdd zmm1 {k2}, …
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from warpsmith.base.source import SourceFile, readable
from warpsmith.report.lowering.model import Lowering, TargetColumn
from warpsmith.report.pages.page import page

__all__ = ["lowering_html"]

_AROUND = 2
"""Lines that are shown before and behind those that something is of."""


class _Row(Struct, frozen=True):
    """A line of a column: `place` is the user's line that it is of, "" where there is none; `number` is shown."""

    text: str
    place: str = ""
    number: str = ""
    gap: bool = False


class _Shown(Struct, frozen=True):
    """A column of the page; `refused` in place of rows."""

    title: str
    rows: tuple[_Row, ...]
    refused: str = ""
    helps: tuple[str, ...] = ()


def lowering_html(made: Lowering) -> str:
    """Return the page of a kernel for its targets."""
    files = list(dict.fromkeys([made.file, *_files(made)]))
    sources = [_source(file, number, _lines(made, file)) for number, file in enumerate(files)]
    rows = tuple(row for part in sources for row in part)
    columns = [_Shown("source", rows), *(_column(one, files) for one in made.columns)]
    return page("lowering/lowering.html", kernel=made.kernel.name, path=made.file.path, columns=columns)


def _files(made: Lowering) -> Iterator[SourceFile]:
    for column in made.columns:
        for line in column.listing.lines if column.listing is not None else ():
            if line.file is not None:
                yield line.file


def _lines(made: Lowering, file: SourceFile) -> list[int]:
    """Return the lines of a file that something is of."""
    found = {
        line.line
        for column in made.columns
        for line in (column.listing.lines if column.listing is not None else ())
        if line.file is file
    }
    if made.kernel.span is not None and made.kernel.span.file is file:
        found.add(made.kernel.span.line)
    return sorted(found)


def _source(file: SourceFile, number: int, lines: Sequence[int]) -> Iterator[_Row]:
    """Yield the lines of a file that something is of, and those around them."""
    last = file.location(len(file.text))[0]
    shown = sorted({n for line in lines for n in range(line - _AROUND, line + _AROUND + 1) if 0 < n <= last})
    if number:
        yield _Row(file.path, gap=True)
    before = None
    for line in shown:
        if before is not None and line != before + 1:
            yield _Row("⋯", gap=True)
        before = line
        yield _Row(readable(file.line(line)).expandtabs(4), f"{number}:{line}", str(line))


def _column(column: TargetColumn, files: Sequence[SourceFile]) -> _Shown:
    if column.listing is None:
        assert column.refused is not None
        span = column.refused.span
        where = f"{span}: " if span is not None else ""
        return _Shown(column.title, (), where + column.refused.message, column.refused.help)
    rows = []
    for line in column.listing.lines:
        place = "" if line.file is None else f"{files.index(line.file)}:{line.line}"
        rows.append(_Row(line.text, place, str(line.line) if place else ""))
    return _Shown(column.title, tuple(rows))
