"""Rows as aligned columns for people.

    line  loop   category  why
    5     for i  parallel  no carried dependence
                           (proven)                    the last column alone is wrapped

Where every character is one column wide the lines are made here, as rich makes them; it has the say on all other text,
and takes as long to load as a short program to analyze.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

__all__ = ["table_text"]

# the last column never gets narrower than this, whatever the terminal
LAST_COLUMN = 30
_GAP = 2
_WORD = re.compile(r"\s*\S+\s*")
_FIRST_OF_NO_WIDTH = "\u0300"


def table_text(rows: Iterable[Sequence[str]], header: Sequence[str] = ()) -> str:
    """Return aligned columns; the last one is wrapped to the terminal (100 columns where there is none)."""
    listed = [tuple(row) for row in rows]
    count = max(len(row) for row in [header, *listed])
    padded = [(*row, *[""] * (count - len(row))) for row in listed]
    widths = [max(len(row[column]) for row in [header, *padded] if row) for column in range(count - 1)]
    width = max(_terminal_width() - 2, sum(widths) + _GAP * count + LAST_COLUMN)
    every = [(*header, *[""] * (count - len(header))), *padded] if header else padded
    simple = all(map(_is_simple, chain.from_iterable(every)))
    lines = _lines(every, widths, width) if simple else _lines_of_rich(padded, header, widths, width)
    return "\n".join("  " + line.rstrip() for line in lines)


def _terminal_width() -> int:
    return shutil.get_terminal_size((100, 24)).columns


def _is_simple(cell: str) -> bool:
    """Whether every character is shown, and one column wide."""
    return cell.isprintable() and (cell.isascii() or max(cell) < _FIRST_OF_NO_WIDTH)


def _lines(rows: Iterable[Sequence[str]], widths: Sequence[int], width: int) -> Iterator[str]:
    """Yield the lines of rows whose columns but the last have `widths`, in `width` columns altogether."""
    left = width - sum(widths) - _GAP * len(widths)
    for *first, last in rows:
        for number, part in enumerate(_wrap_lines(last, left)):
            cells = first if number == 0 else [""] * len(widths)
            yield "".join(cell.ljust(size + _GAP) for cell, size in zip(cells, widths, strict=True)) + part


def _wrap_lines(text: str, width: int) -> Iterator[str]:
    """Yield the lines of a text of which none is wider than `width`; a word alone is cut where it is."""
    start = used = 0
    for found in _WORD.finditer(text):
        word, size = found[0], len(found[0].rstrip())
        if size <= width - used:
            used += len(word)
            continue
        if found.start() > start:
            yield text[start : found.start()]
            start = found.start()
        while len(word) > width and size > width:
            yield text[start : start + width]
            start, word = start + width, word[width:]
        used = len(word)
    yield text[start:]


def _lines_of_rich(
    rows: Iterable[Sequence[str]], header: Sequence[str], widths: Sequence[int], width: int
) -> list[str]:
    import io

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=bool(header), pad_edge=False, padding=(0, _GAP, 0, 0))
    for column in range(len(widths) + 1):
        fixed = widths[column] if column < len(widths) else None
        table.add_column(header[column] if header else "", no_wrap=fixed is not None, min_width=fixed, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    buffer = io.StringIO()
    Console(file=buffer, width=width, color_system=None, legacy_windows=False).print(table)
    return buffer.getvalue().splitlines()
