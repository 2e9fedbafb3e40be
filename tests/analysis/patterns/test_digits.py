"""Rows taken apart into digits and dimensions."""

from __future__ import annotations

import pytest

from warpsmith.analysis.affine.symbols import Atom
from warpsmith.analysis.patterns.columns import IndexColumn
from warpsmith.analysis.patterns.digits import digits, dimensions

_COLUMNS = [
    IndexColumn("ctaid.x", "block", Atom("b", "shared"), None, "x"),
    IndexColumn("tid.y", "thread", Atom("y", "index"), 8, "y"),
    IndexColumn("tid.x", "thread", Atom("x", "index"), 16, "x"),
    IndexColumn("k", "loop", Atom("k", "shared"), 8, "", "head"),
]


@pytest.mark.parametrize(
    ("row", "made"),
    [
        ((16, 0, 1, 0), ((16, 0, 0, 0), (0, 0, 1, 0))),
        ((15, 0, 1, 0), ((15, 0, 1, 0),)),
        ((4, 0, 1, 0), ((4, 0, 1, 0),)),
        ((128, 16, -1, 0), ((128, 0, 0, 0), (0, 16, 0, 0), (0, 0, -1, 0))),
        ((1, 0, 0, 16), ((1, 0, 0, 16),)),
        ((0, 0, 0, 0), ((0, 0, 0, 0),)),
    ],
)
def test_digits(row: tuple[int, ...], made: tuple[tuple[int, ...], ...]) -> None:
    assert digits(row, _COLUMNS) == made


@pytest.mark.parametrize(
    ("row", "made"),
    [
        ((16, 0, 1, 0), ((16, 0, 1, 0),)),
        ((0, 16, 0, 1), ((0, 16, 0, 0), (0, 0, 0, 1))),
        ((0, 16, 1, 0), ((0, 16, 0, 0), (0, 0, 1, 0))),
        ((128, 0, 1, 16), ((128, 0, 1, 16),)),
    ],
)
def test_an_axis_is_not_parted(row: tuple[int, ...], made: tuple[tuple[int, ...], ...]) -> None:
    assert dimensions(row, _COLUMNS) == made
