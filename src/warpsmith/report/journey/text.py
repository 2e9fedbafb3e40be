"""A journey for the terminal: a few lines or a small table for each stage."""

from __future__ import annotations

from warpsmith.base.source import readable
from warpsmith.report.journey.model import Journey
from warpsmith.report.journey.sections import ShownSection, closing_line, sections
from warpsmith.report.table import table_text

__all__ = ["journey_text"]


def journey_text(made: Journey) -> str:
    """Return all stages, and what came of the comparisons."""
    parts = [_section(number, one) for number, one in enumerate(sections(made), 1)]
    return "\n\n".join([f"{readable(made.subject)} through everything", *parts, closing_line(made)])


def _section(number: int, one: ShownSection) -> str:
    blocks = [f"{number}  {one.title}  ({one.seconds:.1f} s)"]
    if one.problem:
        blocks.append(f"  not done: {readable(one.problem)}")
    if one.lines:
        blocks.append(table_text([(readable(line),) for line in one.lines]))
    for table in one.tables:
        rows = [tuple(map(readable, row)) for row in table.rows]
        blocks.append(table_text(rows, tuple(map(readable, table.header))))
    if one.notes:
        blocks.append(table_text([(readable(note),) for note in one.notes]))
    return "\n".join(blocks)
