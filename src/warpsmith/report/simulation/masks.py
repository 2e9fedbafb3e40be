"""Which lanes are active in each step of a run, as a picture: a row for each step, beside its line; a column for each
warp (for warps that do the same, one), in it a cell for each lane.

    5   if (x & 1)           ████████████████     all lanes
    6   x = 3 * x + 1;       █ █ █ █ █ █ █ █      those with odd x; the others wait
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from msgspec import Struct

from warpsmith.report.simulation.model import Column, TimelineGroup
from warpsmith.report.simulation.text import column_name
from warpsmith.report.words import NVIDIA, Speech

__all__ = ["MaskColumn", "MaskPicture", "MaskRow", "mask_picture"]

_CELL, _ROW, _TEXT, _COUNT, _TOP, _LONGEST, _NAME = 9, 16, 320, 64, 26, 38, 150
_MOST_STEPS: Final = 1500
_MOST_COLUMNS: Final = 8


class MaskRow(Struct, frozen=True):
    """A step of one warp: its active lanes as runs (left end, width, which lanes they are), all of them or a part, and
    how many, where that changes."""

    y: int
    kind: Literal["on", "part"]
    runs: tuple[tuple[int, int, str], ...]
    count: str


class MaskColumn(Struct, frozen=True):
    """What a warp, or several alike, did; `x`: its left end, `count_x`: where numbers of lanes stand."""

    x: int
    count_x: int
    name: str
    wide: int
    high: int
    rows: tuple[MaskRow, ...]


class MaskPicture(Struct, frozen=True):
    """Warps that go through the same steps, in pixels; `steps`: the number and the text of each one's line, with the
    base line of the words; `top`: where rows begin, `row`: how high they are."""

    words: str
    wide: int
    high: int
    columns: tuple[MaskColumn, ...]
    steps: tuple[tuple[int, str, str], ...]
    not_drawn: str
    top: int = _TOP
    row: int = _ROW - 2


def mask_picture(group: TimelineGroup, lanes: int, said: Speech = NVIDIA) -> MaskPicture:
    """Return the picture of warps of `lanes` lanes that go through the same steps, as `masks.svg` draws it."""
    columns = group.columns[:_MOST_COLUMNS]
    steps = group.steps[:_MOST_STEPS]
    wide = _TEXT + len(columns) * _column_width(lanes)
    high = _TOP + len(steps) * _ROW + 8
    words = f"{said.many('lane')} of {said.count(len(columns), 'warp')} in {len(steps)} steps: filled where active"
    drawn = (_column(column, number, len(steps), (lanes, said)) for number, column in enumerate(columns))
    texts = ((_TOP + n * _ROW + 12, str(step.line or "?"), _cut(step.text)) for n, step in enumerate(steps))
    return MaskPicture(words, wide, high, tuple(drawn), tuple(texts), _report_not_drawn(group, said))


def _column_width(lanes: int) -> int:
    """Return how wide a column is; its name needs room where there are few lanes."""
    return max(lanes * _CELL + _COUNT, _NAME)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _report_not_drawn(group: TimelineGroup, said: Speech) -> str:
    """Return what of a group is not in the picture, "" where all of it is."""
    left = []
    if len(group.steps) > _MOST_STEPS:
        left.append(f"{len(group.steps) - _MOST_STEPS:,} more steps")
    if len(group.columns) > _MOST_COLUMNS:
        left.append(f"{len(group.columns) - _MOST_COLUMNS:,} more kinds of {said.many('warp')}")
    return f"Not drawn: {' and '.join(left)}." if left else ""


def _column(column: Column, number: int, steps: int, what: tuple[int, Speech]) -> MaskColumn:
    lanes, said = what
    x = _TEXT + number * _column_width(lanes)
    masks = column.masks[:steps]
    high = len(masks) * _ROW - 2 if masks else 0
    rows = tuple(_rows(masks, x, lanes, said))
    return MaskColumn(x, x + lanes * _CELL + 6, column_name(column, said), lanes * _CELL, high, rows)


def _rows(masks: Sequence[int], x: int, lanes: int, said: Speech) -> Iterator[MaskRow]:
    """Yield the rows of one warp; lanes side by side are one rectangle, and the number is shown where it changes."""
    before = -1
    for number, mask in enumerate(masks):
        runs = tuple(
            (x + first * _CELL, count * _CELL - 1, _lanes(first, count, said)) for first, count in _runs(mask, lanes)
        )
        count = f"{mask.bit_count()}/{lanes}" if mask != before else ""
        yield MaskRow(_TOP + number * _ROW, "on" if mask == (1 << lanes) - 1 else "part", tuple(runs), count)
        before = mask


def _lanes(first: int, count: int, said: Speech) -> str:
    if count == 1:
        return f"{said.one('lane')} {first}"
    return f"{said.many('lane')} {first} to {first + count - 1}"


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
