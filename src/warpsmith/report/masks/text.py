"""Masks of a wave as text: lane 0 leftmost, 1 active, . masked off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from warpsmith.report.masks.model import MaskReport

__all__ = ["mask_letters", "masks_text"]

_FIRST: Final = 60
"""Instructions that are printed, unless all are asked for."""


def masks_text(report: MaskReport, *, everything: bool = False) -> str:
    """Return a run as text; `everything`: all instructions of the wave that were kept."""
    return "\n".join(_lines(report, everything))


def mask_letters(mask: int, lanes: int) -> str:
    """Return a mask with lane 0 leftmost: 1.1."""
    return "".join("1" if mask >> lane & 1 else "." for lane in range(lanes))


def _lines(report: MaskReport, everything: bool) -> Iterator[str]:
    waves = f"{report.waves:,} wave{'s' if report.waves != 1 else ''} of {report.lanes} lanes"
    yield f"{report.title} on {report.machine}: {waves}, {report.instructions:,} instructions"
    yield f"\nlanes of {report.shown} before each instruction"
    steps = report.steps if everything else report.steps[:_FIRST]
    width = max((len(str(step.line)) for step in steps), default=1)
    for step in steps:
        yield f"{step.line:>{width}}  {mask_letters(step.mask, report.lanes)}  {step.text}"
    if report.executed > len(steps):
        more = "" if everything else "; --timeline ascii shows more"
        yield f"{' ' * width}  and {report.executed - len(steps):,} more{more}"
    for row in report.outputs:
        rest = " …" if row.elements > len(row.first) else ""
        yield f"\n{row.name}: {row.type}[{row.elements}], {row.changed:,} changed: {' '.join(row.first)}{rest}"
