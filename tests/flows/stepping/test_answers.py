"""Lanes in words."""

from __future__ import annotations

import pytest

from warpsmith.flows.stepping.answers import name_lanes


@pytest.mark.parametrize(
    ("lanes", "expected"),
    [([3], "lane 3"), ([0, 1], "lanes 0-1"), ([5, 0, 2, 1], "lanes 0-2, 5"), ([0, 2, 4], "lanes 0, 2, 4")],
)
def test_lanes_side_by_side_are_a_range(lanes: list[int], expected: str) -> None:
    assert name_lanes(lanes) == expected
