"""Blocks that wait for each other at barriers of the grid: as the interpreter has it, at any width."""

from __future__ import annotations

import pytest

from tests.simt.engine.agree import ALL, QUICKLY, agree
from tests.simt.engine.cooperative import KERNELS, WRONG, grid_case, random_grid_case
from warpsmith.simt.engine.engine import Checks

SETS = {
    "all": ALL,
    "quickly": QUICKLY,
    "none": Checks(False, False, False, False),
    "races": Checks(False, False, False),
}


LARGE = [(8, 2, 40), (32, 9, 48), (64, 4, 100)]
SHAPES = [(32, 3, 64), *(pytest.param(*shape, marks=pytest.mark.slow) for shape in LARGE)]


@pytest.mark.parametrize("body", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize(("warp", "blocks", "threads"), SHAPES)
def test_blocks_meet(body: str, warp: int, blocks: int, threads: int) -> None:
    if "shfl" in body and (warp != 32 or threads % 32):
        threads, warp = 96, 32
    if "two phases" in body or "step /= 2" in body:
        threads = 64
    assert agree(grid_case(body, blocks=blocks, threads=threads, warp=warp)) == ""


@pytest.mark.slow
@pytest.mark.parametrize("checks", SETS.values(), ids=SETS)
@pytest.mark.parametrize("body", list(KERNELS.values())[:4], ids=list(KERNELS)[:4])
def test_blocks_meet_whatever_is_looked_for(body: str, checks: Checks) -> None:
    assert agree(grid_case(body), checks) == ""


@pytest.mark.parametrize(("body", "why"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_found(body: str, why: str) -> None:
    assert why in agree(grid_case(body))


def test_a_grid_of_one_block_meets_itself() -> None:
    assert agree(grid_case(KERNELS["two arrays in turn"], blocks=1)) == ""


@pytest.mark.parametrize("seed", range(6))
def test_random_kernels_meet(seed: int) -> None:
    agree(random_grid_case(seed))


@pytest.mark.slow
@pytest.mark.parametrize("start", range(6, 306, 50))
def test_many_random_kernels_meet(start: int) -> None:
    for seed in range(start, start + 50):
        agree(random_grid_case(seed))
