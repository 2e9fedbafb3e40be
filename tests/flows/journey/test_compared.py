"""Arrays are compared element by element, and nothing is equal that was not looked at."""

from __future__ import annotations

import numpy as np

from warpsmith.flows.journey.compared import Compared, compare


def test_equal_and_different_elements_are_counted() -> None:
    wanted = {"a": np.array([1, 2, 3], "<i4"), "b": np.array([1.0, 2.0], "<f4")}
    assert compare({name: one.copy() for name, one in wanted.items()}, wanted) == Compared(5, 0)
    found = compare({"a": np.array([1, 7, 8], "<i4"), "b": wanted["b"]}, wanted)
    assert found == Compared(5, 2, 0, "a[1] is 7, not 2")


def test_floats_are_counted_in_steps() -> None:
    one = np.array([1.0, -1.0, 0.0, np.nan], "<f4")
    next_one = np.nextafter(one, np.float32(9), dtype=np.float32)
    assert compare({"a": next_one}, {"a": one}).ulp == 1
    # 0 and -0 are one number, and so is whatever is none
    assert compare({"a": np.array([0.0, -np.nan], "<f4")}, {"a": np.array([-0.0, np.nan], "<f4")}).differ == 0
    # from the least number below 0 to the least one above there are two steps
    tiny = np.array([1], "<i4").view("<f4")
    assert compare({"a": tiny}, {"a": -tiny}).ulp == 2


def test_what_is_missing_or_of_another_shape_differs() -> None:
    wanted = {"a": np.zeros(4, "<i4")}
    assert compare({}, wanted).differ == 4
    assert compare({"a": np.zeros(3, "<i4")}, wanted).differ == 4
    assert compare({"a": np.zeros(4, "<f4")}, wanted).differ == 4


def test_nothing_is_no_element() -> None:
    assert compare({"a": np.zeros(4)}, {}) == Compared(0, 0)
