"""Control flow: random kernels, and bugs that they show."""

from __future__ import annotations

import pytest

from tests.targets.mask.agree import agree
from tests.targets.mask.random_kernels import exported_case, written_case
from tests.targets.mask.seeded import BUGS, Bug, shows


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 120, 20))
def test_random_kernels_leave_the_same_memory(first: int) -> None:
    for seed in range(first, first + 20):
        agree(exported_case(seed))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1600, 50))
def test_more_random_kernels_leave_the_same_memory(first: int) -> None:
    for seed in range(first, first + 50):
        agree(exported_case(seed))


def test_lanes_begin_the_next_iteration_while_others_go_on() -> None:
    agree(written_case())


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.what)
def test_a_bug_shows(bug: Bug) -> None:
    assert shows(bug)
