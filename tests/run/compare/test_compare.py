"""Element-wise comparison and what the original leaves open."""

from __future__ import annotations

import math

import numpy as np
import pytest

from warpsmith.run.compare.compare import compare_arrays, distances, show_value
from warpsmith.run.compare.tolerance import (
    EXACT,
    Allowance,
    allowance_of,
    is_ill_conditioned,
    is_noise,
    spread_of,
    undetermined,
    unsettled,
    unwritten,
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


def test_the_allowance_scales_with_the_object() -> None:
    base, variant = np.array([1e-9, 2e-9]), np.array([1e-9, 2e-9 + 1e-20])
    spread = spread_of(base, [variant], nothing(2))
    allowed = allowance_of(spread).of(base)
    assert 0 < np.max(allowed) < 1e-18
    assert EXACT.of(base).tolist() == [0.0, 0.0]
    assert Allowance(absolute=0.5, relative=0.1).of(np.array([10.0])).tolist() == [1.5]


def test_spread_ignores_integers_and_masked_elements() -> None:
    assert spread_of(np.array([1, 2]), [np.array([1, 9])], nothing(2)) == 0.0
    assert spread_of(np.array([1.0, 2.0]), [np.array([1.0, 9.0])], np.array([False, True])) == 0.0


def test_ill_conditioned_is_judged_against_the_magnitude() -> None:
    assert is_ill_conditioned(np.array([100.0]), 1.0)
    assert not is_ill_conditioned(np.array([100.0]), 1e-9)


def test_undetermined_elements_differ_between_runs() -> None:
    assert undetermined([np.array([1, 2]), np.array([1, 3])], (2,)).tolist() == [False, True]
    assert undetermined([np.array([math.nan]), np.array([math.nan])], (1,)).tolist() == [False]
    assert undetermined([], (2,)).tolist() == [False, False]


def test_elements_that_nobody_wrote_hold_in_each_run_what_memory_was_filled_with() -> None:
    first = np.array([0x40404040, 0x40404041, 7, 0x40404040], np.uint32)
    second = np.array([0xBFBFBFBF, 0xBFBFBFC0, 7, 0x40404040], np.uint32)
    runs = [(first, b"\x40"), (second, b"\xbf")]
    assert unwritten(runs, (4,)).tolist() == [True, False, False, False]
    assert unwritten(runs[:1], (4,)).tolist() == [True, False, False, True]
    assert not unwritten([], (4,)).any()


def test_a_pointer_among_bytes_is_undetermined_as_a_whole() -> None:
    left, right = (np.array([address], np.uint64).view(np.uint8) for address in (0x7F12_3456_7000, 0x7F99_3456_7000))
    assert undetermined([left, right], (8,)).all()
    number = [np.array([value], np.uint64).view(np.uint8) for value in (1, 2)]
    assert undetermined(number, (8,)).sum() == 1


def test_values_are_shown_as_a_person_reads_them() -> None:
    assert show_value(np.array([0.1]), 0) == "0.1"
    assert show_value(np.array([0.1], np.float32), 0) == "0.1"
    assert show_value(np.array([-7]), 0) == "-7"


def test_sums_in_another_order_may_differ_by_ulps_of_the_largest() -> None:
    base = np.array([1000.0, 1e-3])
    allowed = allowance_of(0.0, base).of(base)
    assert 1e-13 < allowed[1] < 1e-9
    assert allowance_of(0.0).of(base)[1] < 1e-17
    assert allowance_of(0.0, np.array([7, 8])).of(np.array([7, 8]))[0] == 0.0


def test_the_spread_is_between_any_two_builds() -> None:
    assert spread_of(np.array([1.0]), [np.array([0.5]), np.array([1.25])], nothing(1)) == 0.75


def test_what_one_build_divides_by_zero_is_unsettled() -> None:
    base, variants = np.array([1.0, 2.0, math.nan]), [np.array([math.nan, 2.5, math.nan])]
    assert unsettled(base, variants).tolist() == [True, False, False]
    assert unsettled(np.array([1, 2]), [np.array([3, 4])]).tolist() == [False, False]


def test_zeros_pass_only_where_no_digit_is_determined() -> None:
    noise = np.array([9e-29])
    assert is_noise(noise, 1e-28)
    assert not is_noise(noise, 1e-29)
    assert not is_noise(np.array([0.0]), 0.0)
    assert not is_noise(np.array([3]), 5.0)
    zeros = np.array([0.0])
    assert compare_arrays(noise, zeros, 4e-28, nothing(1)).failing == 1
    assert compare_arrays(noise, zeros, 4e-28, nothing(1), noise=True).first is None
