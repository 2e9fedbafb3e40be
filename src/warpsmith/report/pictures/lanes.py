"""The lanes of a warp as pictures: which sectors or banks they touch, and which of them take a branch.

sector 0  ■■■■■■■■                     a column a lane, a row for each sector that is touched: 4 rows where lanes
       1          ■■■■■■■■             stand side by side, a diagonal where each one is in a sector of its own
bank 0    ■■■■■■■■■■■■■■■■■■■■■■■■     a row a bank: all in one row wait for each other

`lanes.svg` draws them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from warpsmith.analysis.rules.finding import EvidenceTable

__all__ = ["LaneMark", "LanePicture", "lane_picture"]

_CELL, _LEFT, _TOP = 13, 62, 6
_BANKS: Final = 32


class LaneMark(Struct, frozen=True):
    """A cell (`on`, `off`) with its corner, size and title, or a label with the end of its line; in pixels."""

    kind: Literal["on", "off", "label"]
    x: int
    y: int
    text: str
    wide: int = 0
    high: int = 0


class LanePicture(Struct, frozen=True):
    """Marks in the order in which they are drawn; the frame around the cells, the whole width, the words below."""

    marks: tuple[LaneMark, ...]
    frame: tuple[int, int, int, int]
    wide: int
    words: str

    @property
    def left(self) -> int:
        """Where the words begin."""
        return _LEFT

    @property
    def high(self) -> int:
        """The lower end of the cells."""
        return self.frame[1] + self.frame[3]


def lane_picture(table: EvidenceTable) -> LanePicture | None:
    """Return the picture of a table of lanes, None where it is of something else."""
    match table.columns:
        case ("lane", "byte", ("sector" | "bank") as unit):
            return _draw_touched(unit, [int(row[2]) for row in table.rows])
        case (str(), "mask", "lanes"):
            return _masks([(row[0], row[2]) for row in table.rows])
        case _:
            return None


def _draw_touched(unit: str, numbers: Sequence[int]) -> LanePicture:
    """Return lanes from left to right, and what each touches from top to bottom."""
    rows = list(range(_BANKS)) if unit == "bank" else sorted(set(numbers))
    size = 7 if unit == "bank" else _CELL if len(rows) <= 16 else 9
    place = {number: row for row, number in enumerate(rows)}
    across = [_LEFT + lane * _CELL for lane in range(len(numbers))]
    cells = [
        LaneMark("on", x, _TOP + place[number] * size, f"lane {lane}: {unit} {number}", _CELL - 1, size - 1)
        for lane, (x, number) in enumerate(zip(across, numbers, strict=True))
    ]
    touched = len(set(numbers))
    words = f"lanes 0 to {len(numbers) - 1} from left to right; {touched} {unit}{'s' if touched > 1 else ''} touched"
    high = _TOP + len(rows) * size
    labels = [_label(f"{unit} {rows[0]}", _TOP + size), *([_label(str(rows[-1]), high)] if len(rows) > 1 else [])]
    return _picture((*cells, *labels), len(numbers), high, words)


def _masks(rows: Sequence[tuple[str, str]]) -> LanePicture:
    """Return a row of lanes for each warp: those that take the branch are filled."""
    marks: list[LaneMark] = []
    wide = 0
    for row, (name, lanes) in enumerate(rows):
        wide = max(wide, len(lanes))
        y = _TOP + row * (_CELL + 4)
        marks.append(_label(f"warp {name}", y + _CELL - 2))
        for lane, sign in enumerate(lanes):
            word = "yes" if sign == "#" else "no"
            kind: Literal["on", "off"] = "on" if sign == "#" else "off"
            marks.append(LaneMark(kind, _LEFT + lane * _CELL, y, f"lane {lane}: {word}", _CELL - 1, _CELL - 1))
    high = _TOP + len(rows) * (_CELL + 4)
    return _picture(tuple(marks), wide, high, f"lanes 0 to {wide - 1} from left to right; filled: the branch is taken")


def _label(text: str, y: int) -> LaneMark:
    return LaneMark("label", _LEFT - 6, y, text)


def _picture(marks: tuple[LaneMark, ...], lanes: int, high: int, words: str) -> LanePicture:
    frame = (_LEFT - 1, _TOP - 1, lanes * _CELL + 1, high - _TOP + 1)
    return LanePicture(marks, frame, max(_LEFT + lanes * _CELL, 460), words)
