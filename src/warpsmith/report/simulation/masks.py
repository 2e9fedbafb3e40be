"""Which lanes are active in each step of a run, as a picture: a row for each step, beside its line; a column for each
warp (for warps that do the same, one), in it a cell for each lane.

    5   if (x & 1)           ████████████████     all lanes
    6   x = 3 * x + 1;       █ █ █ █ █ █ █ █      those with odd x; the others wait
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from warpsmith.report.simulation.model import Column, TimelineGroup

__all__ = ["MASK_STYLE", "mask_svg", "shown_of"]

_CELL, _ROW, _TEXT, _COUNT, _TOP, _LONGEST = 9, 16, 320, 64, 26, 38
_MOST_STEPS: Final = 1500
_MOST_COLUMNS: Final = 8

MASK_STYLE: Final = """
svg.masks text { font: 12px ui-monospace, monospace; fill: var(--ink, #1b1f24); max-width: none; }
svg.masks .faint { fill: var(--faint, #57606a); } svg.masks .on { fill: var(--lane, #0b5cad); }
svg.masks .off { fill: var(--band, #eef1f5); } svg.masks .part { fill: var(--diverges, #b35900); }
"""


def mask_svg(group: TimelineGroup, lanes: int, *, alone: bool = False) -> str:
    """Return the picture of warps that go through the same steps; `alone`: as a file of its own."""
    columns = group.columns[:_MOST_COLUMNS]
    steps = group.steps[:_MOST_STEPS]
    wide = _TEXT + len(columns) * (lanes * _CELL + _COUNT)
    high = _TOP + len(steps) * _ROW + 8
    words = f"lanes of {len(columns)} warps in {len(steps)} steps: filled where active"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="masks" viewBox="0 0 {wide} {high}" width="{wide}" '
        f'height="{high}" role="img" aria-label="{words}">',
        f'<style>{MASK_STYLE}</style><rect width="100%" height="100%" fill="#ffffff"/>' if alone else "",
    ]
    for number, column in enumerate(columns):
        x = _TEXT + number * (lanes * _CELL + _COUNT)
        parts.append(f'<text x="{x}" y="16" class="faint">{escape(_name(column))}</text>')
        parts += _lanes(column.masks[: len(steps)], x, lanes)
    for number, step in enumerate(steps):
        y = _TOP + number * _ROW + 12
        text = step.text if len(step.text) <= _LONGEST else f"{step.text[: _LONGEST - 1]}…"
        parts.append(f'<text x="28" y="{y}" text-anchor="end" class="faint">{step.line or "?"}</text>')
        parts.append(f'<text x="38" y="{y}">{escape(text)}</text>')
    return "".join([*parts, "</svg>"])


def shown_of(group: TimelineGroup) -> str:
    """Return what of a group is not in the picture, "" where all of it is."""
    left = []
    if len(group.steps) > _MOST_STEPS:
        left.append(f"{len(group.steps) - _MOST_STEPS:,} more steps")
    if len(group.columns) > _MOST_COLUMNS:
        left.append(f"{len(group.columns) - _MOST_COLUMNS:,} more kinds of warps")
    return f"Not drawn: {' and '.join(left)}." if left else ""


def _name(column: Column) -> str:
    block, warp = column.warps[0]
    more = f" and {len(column.warps) - 1:,} like it" if len(column.warps) > 1 else ""
    return f"block {block} warp {warp}{more}"


def _lanes(masks: tuple[int, ...], x: int, lanes: int) -> Iterator[str]:
    """Yield the rows of one warp; lanes side by side are one rectangle, and the number is told where it changes."""
    yield (
        f'<rect x="{x}" y="{_TOP}" width="{lanes * _CELL}" height="{len(masks) * _ROW - 2}" class="off"/>'
        if masks
        else ""
    )
    before = -1
    for number, mask in enumerate(masks):
        y = _TOP + number * _ROW
        kind = "on" if mask == (1 << lanes) - 1 else "part"
        for first, count in _runs(mask, lanes):
            left, wide = x + first * _CELL, count * _CELL - 1
            names = f"lane {first}" if count == 1 else f"lanes {first} to {first + count - 1}"
            place = f'x="{left}" y="{y}" width="{wide}" height="{_ROW - 2}"'
            yield f'<rect {place} class="{kind}"><title>{names}</title></rect>'
        if mask != before:
            at = x + lanes * _CELL + 6
            yield f'<text x="{at}" y="{y + 12}" class="faint">{mask.bit_count()}/{lanes}</text>'
        before = mask


def _runs(mask: int, lanes: int) -> Iterator[tuple[int, int]]:
    """Yield the first lane and the length of each run of active lanes."""
    first = 0
    while first < lanes:
        if not mask >> first & 1:
            first += 1
            continue
        last = first
        while last < lanes and mask >> last & 1:
            last += 1
        yield first, last - first
        first = last
