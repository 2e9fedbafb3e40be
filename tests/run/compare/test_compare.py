"""Element-wise comparison and what the original leaves open."""

from __future__ import annotations

import math

import numpy as np
import pytest

from warpsmith.run.compare.compare import compare_arrays, distances, show_value
from warpsmith.run.compare.tolerance import (
    is_noise,
)


def nothing(count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    return np.zeros(count, np.bool_)


def test_equal_are_nan_infinity_and_both_zeros() -> None:
    expected = np.array([math.nan, math.inf, -math.inf, 0.0, 1.0])
    actual = np.array([-math.nan, math.inf, -math.inf, -0.0, 1.0])
    assert compare_arrays(expected, actual, 0.0, nothing(5)).first is None
    assert distances(expected, actual).tolist() == [0.0] * 5


@pytest.mark.parametrize("actual", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_never_passes_for_a_number(actual: float) -> None:
    got = compare_arrays(np.array([1.0, 2.0]), np.array([1.0, actual]), 1e300, nothing(2))
    assert got.first == 1 and got.max_abs == math.inf


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ulps_count_representable_numbers(dtype: type[np.floating[np.typing.NBitBase]]) -> None:
    one = np.array([1.0, -0.0, -1.0], dtype)
    near = np.array([np.nextafter(dtype(1), dtype(2)), np.finfo(dtype).smallest_subnormal, -1.0], dtype)
    got = compare_arrays(one, near, 0.0, nothing(3))
    assert (got.max_ulp, got.first, got.failing) == (1, 0, 2)
    across = compare_arrays(np.array([-1.0, 1.0], dtype), np.array([1.0, 1.0], dtype), 0.0, nothing(2))
    assert across.max_ulp == 2 * int(np.array([1.0], dtype).view(f"i{np.dtype(dtype).itemsize}")[0])


def test_integers_are_exact_also_at_their_ends() -> None:
    low, high = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    got = compare_arrays(np.array([low, 5]), np.array([high, 5]), 1e30, nothing(2))
    assert got.first == 0 and got.max_abs == float(2**64 - 1)


def test_skipped_elements_do_not_count() -> None:
    got = compare_arrays(np.array([1.0, 2.0]), np.array([9.0, 2.0]), 0.0, np.array([True, False]))
    assert got.first is None and got.max_abs == 0.0


def test_zeros_never_stand_for_a_result_however_small() -> None:
    expected = np.array([1e-12, 2e-12])
    assert compare_arrays(expected, np.zeros(2), 1e-3, nothing(2)).failing == 2
    assert compare_arrays(expected, np.array([1e-12, 0.0]), 1e-3, nothing(2)).first is None


def test_values_are_shown_as_a_person_reads_them() -> None:
    assert show_value(np.array([0.1]), 0) == "0.1"
    assert show_value(np.array([0.1], np.float32), 0) == "0.1"
    assert show_value(np.array([-7]), 0) == "-7"


def test_zeros_pass_only_where_no_digit_is_determined() -> None:
    noise = np.array([9e-29])
    assert is_noise(noise, 1e-28)
    assert not is_noise(noise, 1e-29)
    assert not is_noise(np.array([0.0]), 0.0)
    assert not is_noise(np.array([3]), 5.0)
    zeros = np.array([0.0])
    assert compare_arrays(noise, zeros, 4e-28, nothing(1)).failing == 1
    assert compare_arrays(noise, zeros, 4e-28, nothing(1), noise=True).first is None
