"""Types of Brook+: sizes, and what components name."""

from __future__ import annotations

import pytest

from warpsmith.front.brook.kinds import TYPE_NAMES, element_of, find_lanes, lanes_of_kind, shown_type, vector_of
from warpsmith.tree.types import FLOAT, INT, VOID, byte_size


@pytest.mark.parametrize(
    ("name", "size", "lanes"), [("float", 4, 1), ("float3", 12, 3), ("int4", 16, 4), ("double2", 16, 2)]
)
def test_numbers_stand_one_behind_the_other(name: str, size: int, lanes: int) -> None:
    assert (byte_size(TYPE_NAMES[name]), lanes_of_kind(TYPE_NAMES[name])) == (size, lanes)
    assert shown_type(TYPE_NAMES[name]) == name


def test_components_are_letters_of_one_row() -> None:
    assert find_lanes("xyzw", 4) == (0, 1, 2, 3) and find_lanes("bgr", 4) == (2, 1, 0) and find_lanes("xx", 2) == (0, 0)
    assert not find_lanes("z", 2) and not find_lanes("xg", 4) and not find_lanes("xyxyx", 4) and not find_lanes("s0", 4)


def test_a_vector_has_numbers_of_one_type() -> None:
    assert vector_of(FLOAT, 3) == TYPE_NAMES["float3"] and vector_of(INT, 1) == INT
    assert element_of(TYPE_NAMES["int2"]) == INT and element_of(FLOAT) == FLOAT and lanes_of_kind(VOID) == 0
