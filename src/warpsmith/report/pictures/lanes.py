"""The lanes of a warp as pictures: which sectors or banks they touch, and which of them take a branch.

sector 0  ■■■■■■■■                     a column a lane, a row for each sector that is touched: 4 rows where lanes
       1          ■■■■■■■■             stand side by side, a diagonal where each one is in a sector of its own
bank 0    ■■■■■■■■■■■■■■■■■■■■■■■■     a row a bank: all in one row wait for each other
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from warpsmith.analysis.rules.finding import Evidence

__all__ = ["lane_svg"]

_CELL, _LEFT, _TOP = 13, 62, 6
_BANKS: Final = 32


def lane_svg(table: Evidence) -> str:
    """Return the picture of a table of lanes, "" where it is of something else."""
    match table.columns:
        case ("lane", "byte", ("sector" | "bank") as unit):
            return _touched(unit, [int(row[2]) for row in table.rows])
        case (str(), "mask", "lanes"):
            return _masks([(row[0], row[2]) for row in table.rows])
        case _:
            return ""


def _touched(unit: str, numbers: Sequence[int]) -> str:
    """Return lanes from left to right, and what each touches from top to bottom."""
    rows = list(range(_BANKS)) if unit == "bank" else sorted(set(numbers))
    size = 7 if unit == "bank" else _CELL if len(rows) <= 16 else 9
    place = {number: row for row, number in enumerate(rows)}
    cells = "".join(
        f'<rect x="{_LEFT + lane * _CELL}" y="{_TOP + place[number] * size}" width="{_CELL - 1}" height="{size - 1}" '
        f'class="on"><title>lane {lane}: {unit} {number}</title></rect>'
        for lane, number in enumerate(numbers)
    )
    worst = max(numbers.count(number) for number in set(numbers))
    touched = len(set(numbers))
    words = f"lanes 0 to {len(numbers) - 1} from left to right; {touched} {unit}{'s' if touched > 1 else ''} touched"
    words += f", up to {worst} lanes in one" if unit == "bank" else ""
    high = _TOP + len(rows) * size
    labels = _label(f"{unit} {rows[0]}", _TOP + size)
    labels += _label(str(rows[-1]), high) if len(rows) > 1 else ""
    return _svg(cells + labels, len(numbers), high, words)


def _masks(rows: Sequence[tuple[str, str]]) -> str:
    """Return a row of lanes for each warp: those that take the branch are filled."""
    cells, wide = "", 0
    for row, (name, lanes) in enumerate(rows):
        wide = max(wide, len(lanes))
        y = _TOP + row * (_CELL + 4)
        cells += _label(f"warp {name}", y + _CELL - 2)
        for lane, sign in enumerate(lanes):
            kind, word = ("on", "yes") if sign == "#" else ("off", "no")
            cells += (
                f'<rect x="{_LEFT + lane * _CELL}" y="{y}" width="{_CELL - 1}" height="{_CELL - 1}" class="{kind}">'
                f"<title>lane {lane}: {word}</title></rect>"
            )
    high = _TOP + len(rows) * (_CELL + 4)
    return _svg(cells, wide, high, f"lanes 0 to {wide - 1} from left to right; filled: the branch is taken")


def _label(text: str, y: float) -> str:
    return f'<text x="{_LEFT - 6}" y="{y}" text-anchor="end">{escape(text)}</text>'


def _svg(inside: str, lanes: int, high: float, words: str) -> str:
    wide = max(_LEFT + lanes * _CELL, 460)
    return (
        f'<svg class="lanes" viewBox="0 0 {wide} {high + 18}" width="{wide}" role="img" aria-label="{escape(words)}">'
        f'<rect x="{_LEFT - 1}" y="{_TOP - 1}" width="{lanes * _CELL + 1}" height="{high - _TOP + 1}" class="frame"/>'
        f'{inside}<text x="{_LEFT}" y="{high + 14}">{escape(words)}</text></svg>'
    )
