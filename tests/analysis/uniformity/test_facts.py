"""Facts about a kernel, as people read them."""

from __future__ import annotations

import pytest

from warpsmith.analysis.uniformity.facts import Count, ParameterBound, WitnessThread


@pytest.mark.parametrize(
    ("bound", "text"),
    [
        (ParameterBound("n", 0), "n >= 0"),
        (ParameterBound("n", None, 9), "n <= 9"),
        (ParameterBound("n", 1, 9), "n >= 1 and n <= 9"),
        (ParameterBound("n", multiple=2), "n % 2 == 0"),
        (ParameterBound("n", 8, None, 8), "n >= 8 and n % 8 == 0"),
        (ParameterBound("n"), ""),
    ],
)
def test_a_bound_is_said_as_the_user_would_write_it(bound: ParameterBound, text: str) -> None:
    assert bound.text == text


def test_a_count_is_one_number_or_two() -> None:
    assert (str(Count(4, 4)), Count(4, 4).exact) == ("4", True)
    assert (str(Count(4, 5)), Count(4, 5).exact) == ("4 to 5", False)


def test_a_thread_is_named_with_its_block_where_that_matters() -> None:
    assert str(WitnessThread((1, 2, 0))) == "thread (1, 2, 0)"
    assert str(WitnessThread((1, 2, 0), (0, 0, 0))) == "thread (1, 2, 0) of block (0, 0, 0)"
