"""Where reuse lands once loops are mapped."""

from __future__ import annotations

import pytest

from tests.flows.nests import nest_plan
from warpsmith.offload.mapping.landing import NestPlace, landing, place_nest
from warpsmith.offload.plan import Fragment
from warpsmith.tree.nodes import For, Index, Loop
from warpsmith.tree.walk import loops, walk


def _outwards(fragment: Fragment, inner: Loop) -> list[Loop]:
    """Return the loops around one of a fragment, innermost first."""
    return [*reversed(next(around for loop, around in loops(fragment.function.body) if loop is inner))]


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


def test_what_is_written_along_threads_is_combined() -> None:
    place = NestPlace("k", ("host", "y", "x", "thread"), (64, 4, 1))
    found = [landing(d, place, written=True) for d in ((0, 0, 0, 1), (0, 0, 1, 0), (0, 1, 0, 0), (1, 0, 0, 0))]
    assert found == ["register", "combined", "combined", "L2"]


def test_blocks_of_one_row_leave_the_rest_to_l2() -> None:
    place = NestPlace("k", ("y", "x"), (256, 1, 1))
    assert landing((1, 0), place, same_time=True) == "L2"
    assert landing((0, 1), place, same_time=True) == "broadcast"


def test_the_place_of_a_nest_is_that_of_its_kernel() -> None:
    plan = nest_plan(
        """void lu(int n, double A[n][n]) { for (int k = 0; k < n; k++)
      for (int i = k + 1; i < n; i++) for (int j = k + 1; j < n; j++) A[i][j] -= A[i][k] * A[k][j]; }"""
    )
    (fragment,) = plan.fragments
    inner = next(loop for statement in fragment.statements for loop, around in loops(statement) if around)
    reference = next(part.span for part in walk(inner.body) if isinstance(part, Index))
    j, i, k = (loop.variable.key for loop in (inner, *_outwards(fragment, inner)) if isinstance(loop, For))
    place = place_nest(plan, [k, i, j], [], reference)
    assert place is not None and place.loops == ("host", "y", "x") and place.block[0] >= 32
    # k around the nest is no counter of it, and has no place; without it, the loop around is not known
    assert place_nest(plan, [i, j], [k], reference) == NestPlace(place.kernel, ("y", "x"), place.block)
    assert place_nest(plan, [i, j], [], reference) is None
    assert place_nest(plan, [k, i, j], [], fragment.function.span) is None
