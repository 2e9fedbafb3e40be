"""The limits of a launch: blocks of 1,024 threads, 64 of them along z, and grids."""

from __future__ import annotations

import pytest

from warpsmith.machine.limits import block_fits, grid_fits


@pytest.mark.parametrize(
    ("block", "fits"),
    [
        ((32, 32, 1), True),
        ((1024, 1, 1), True),
        ((1, 1, 64), True),
        ((1, 1, 1), True),
        ((32, 33, 1), False),
        ((1025, 1, 1), False),
        ((1, 1, 65), False),
        ((1, 1, 128), False),
        ((0, 1, 1), False),
        ((-1, -1, 1), False),
        ((16, 8, 9), False),
    ],
)
def test_blocks(block: tuple[int, int, int], fits: bool) -> None:
    assert block_fits(block) == fits


@pytest.mark.parametrize(
    ("count", "block", "axis", "fits"),
    [
        (65535 * 8, 8, 1, True),
        (65535 * 8 + 1, 8, 1, False),
        (65535 * 8 + 1, 8, 2, False),
        (65535 * 8 + 1, 8, 0, True),
        (2**31, 256, 0, True),
        (2**31, 1, 0, False),
        (2**31 - 1, 1, 0, True),
        (0, 8, 1, True),
    ],
)
def test_grids(count: int, block: int, axis: int, fits: bool) -> None:
    assert grid_fits(count, block, axis) == fits
