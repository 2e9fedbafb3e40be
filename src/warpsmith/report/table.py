"""Rows as aligned columns for people."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

__all__ = ["table_text"]

# the last column never gets narrower than this, whatever the terminal
LAST_COLUMN = 30


def table_text(rows: Iterable[Sequence[str]], header: Sequence[str] = ()) -> str:
    """Return aligned columns; the last one is wrapped to the terminal (100 columns where there is none)."""
    listed = [tuple(row) for row in rows]
    count = max(len(row) for row in [header, *listed])
    padded = [(*row, *[""] * (count - len(row))) for row in listed]
    widths = [max(len(row[column]) for row in [header, *padded] if row) for column in range(count - 1)]
    table = Table(box=None, show_header=bool(header), pad_edge=False, padding=(0, 2, 0, 0))
    for column in range(count):
        fixed = widths[column] if column < count - 1 else None
        table.add_column(header[column] if header else "", no_wrap=fixed is not None, min_width=fixed, overflow="fold")
    for row in padded:
        table.add_row(*(Text(cell) for cell in row))
    buffer = io.StringIO()
    width = max(_terminal_width() - 2, sum(widths) + 2 * count + LAST_COLUMN)
    Console(file=buffer, width=width, color_system=None, legacy_windows=False).print(table)
    return "\n".join("  " + line.rstrip() for line in buffer.getvalue().splitlines())


def _terminal_width() -> int:
    return shutil.get_terminal_size((100, 24)).columns
