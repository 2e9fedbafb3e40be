"""Text of machines one behind the other, with the user's lines as comments."""

from __future__ import annotations

from warpsmith.base.findings import printable
from warpsmith.report.lowering.model import Lowering, TargetColumn

__all__ = ["lowering_text"]


def lowering_text(made: Lowering) -> str:
    """Return the text of a kernel for its targets; of several, each under its name."""
    if len(made.columns) == 1 and made.columns[0].listing is not None:
        return made.columns[0].listing.text
    return "\n".join(_part(made, column) for column in made.columns)


def _part(made: Lowering, column: TargetColumn) -> str:
    comment = column.listing.comment if column.listing is not None else ";"
    head = f"{comment} {made.kernel.name}: {column.title}\n"
    if column.listing is not None:
        return head + column.listing.text
    assert column.refused is not None
    span = column.refused.span
    where = f"{span}: " if span is not None else ""
    return f"{head}{comment} {printable(where + column.refused.message)}\n"
