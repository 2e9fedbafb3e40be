"""Where reuse lands once loops are mapped."""

from __future__ import annotations

import pytest

from tests.flows.nests import nest_plan
from warpsmith.offload.mapping.landing import NestPlace, landing, place_nest


@pytest.mark.parametrize(
    ("direction", "same_time", "where"),
    [
        ((0, 0, 0, 1), True, "register"),
        ((0, 0, 1, 0), True, "broadcast"),
        # neighbours that read it one after the other
        ((0, 0, 1, 0), False, "shared tile or L1"),
        ((0, 1, 0, 0), True, "shared tile or L1"),
        ((0, 1, 1, 0), True, "shared tile or L1"),
        ((0, 0, 1, 1), True, "shared tile or L1"),
        ((1, 0, 0, 0), True, "L2"),
        ((1, 0, 0, 1), False, "L2"),
    ],
)
def test_a_direction_lands_where_its_loops_run(direction: tuple[int, ...], same_time: bool, where: str) -> None:
    place = NestPlace("k", ("host", "y", "x", "thread"), (64, 4, 1))
    assert landing(direction, place, same_time=same_time) == where


def test_blocks_of_one_row_leave_the_rest_to_l2() -> None:
    place = NestPlace("k", ("y", "x"), (256, 1, 1))
    assert landing((1, 0), place, same_time=True) == "L2"
    assert landing((0, 1), place, same_time=True) == "broadcast"


def test_the_place_of_a_nest_is_that_of_its_kernel() -> None:
    plan = nest_plan(
        """void lu(int n, double A[n][n]) { for (int k = 0; k < n; k++)
      for (int i = k + 1; i < n; i++) for (int j = k + 1; j < n; j++) A[i][j] -= A[i][k] * A[k][j]; }"""
    )
    place = place_nest(plan, ["lu/k", "lu/k/i", "lu/k/i/j"])
    assert place is not None and place.loops == ("host", "y", "x") and place.block[0] >= 32
    assert place_nest(plan, ["lu/k"]) is None and place_nest(plan, []) is None
