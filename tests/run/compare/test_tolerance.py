"""The tolerance: what the original leaves open, and how far a result may be from it."""

from __future__ import annotations

import math

import numpy as np

from warpsmith.run.compare.tolerance import (
    EXACT,
    Allowance,
    allowance_of,
    is_ill_conditioned,
    is_noise,
    largest,
    mask_undetermined,
    mask_unsettled,
    mask_unwritten,
    moved_addresses,
    spread_of,
)


def nothing(count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    return np.zeros(count, np.bool_)


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
    assert mask_undetermined([np.array([1, 2]), np.array([1, 3])], (2,)).tolist() == [False, True]
    assert mask_undetermined([np.array([math.nan]), np.array([math.nan])], (1,)).tolist() == [False]
    assert mask_undetermined([], (2,)).tolist() == [False, False]


def test_elements_that_nobody_wrote_hold_in_each_run_what_memory_was_filled_with() -> None:
    first = np.array([0x40404040, 0x40404041, 7, 0x40404040], np.uint32)
    second = np.array([0xBFBFBFBF, 0xBFBFBFC0, 7, 0x40404040], np.uint32)
    runs = [(first, b"\x40"), (second, b"\xbf")]
    assert mask_unwritten(runs, (4,)).tolist() == [True, False, False, False]
    assert mask_unwritten(runs[:1], (4,)).tolist() == [True, False, False, True]
    assert not mask_unwritten([], (4,)).any()


def test_a_pointer_among_bytes_is_undetermined_as_a_whole() -> None:
    left, right = (np.array([address], np.uint64).view(np.uint8) for address in (0x7F12_3456_7000, 0x7F99_3456_7000))
    assert mask_undetermined([left, right], (8,)).all()
    number = [np.array([value], np.uint64).view(np.uint8) for value in (1, 2)]
    assert mask_undetermined(number, (8,)).sum() == 1


def test_sums_in_another_order_may_differ_by_ulps_of_the_largest() -> None:
    base = np.array([1000.0, 1e-3])
    allowed = allowance_of(0.0, base, reordered_bits=64).of(base)
    assert 1e-13 < allowed[1] < 1e-9
    assert allowance_of(0.0, base).of(base)[1] < 1e-17
    assert allowance_of(0.0, np.array([7, 8]), reordered_bits=64).of(np.array([7, 8]))[0] == 0.0
    # in a double, numbers of type float are as rough as they are
    assert 1e-3 < allowance_of(0.0, base, reordered_bits=32).of(base)[1] < 1e-1
    assert allowance_of(0.0, base.astype(np.float32), reordered_bits=64).of(base)[1] > 1e-3


def test_the_spread_is_between_any_two_builds() -> None:
    assert spread_of(np.array([1.0]), [np.array([0.5]), np.array([1.25])], nothing(1)) == 0.75


def test_what_one_build_divides_by_zero_is_unsettled() -> None:
    base, variants = np.array([1.0, 2.0, math.nan]), [np.array([math.nan, 2.5, math.nan])]
    assert mask_unsettled(base, variants).tolist() == [True, False, False]
    assert mask_unsettled(np.array([1, 2]), [np.array([3, 4])]).tolist() == [False, False]


def test_noise_is_a_spread_as_large_as_the_object() -> None:
    assert is_noise(np.array([0.5, -2.0]), 2.0)
    assert not is_noise(np.array([0.5, -2.0]), 1.9)
    assert not is_noise(np.array([0.0]), 0.0)
    assert not is_noise(np.array([3]), 5.0)


def test_the_largest_number_is_a_finite_one() -> None:
    assert largest(np.array([1.0, -3.0, math.inf, math.nan])) == 3.0
    assert (largest(np.array([7])), largest(np.array([math.nan])), largest(None)) == (0.0, 0.0, 0.0)


def test_what_is_not_finite_allows_nothing_of_its_size() -> None:
    assert Allowance(relative=0.1, absolute=0.5).of(np.array([math.inf, math.nan])).tolist() == [0.5, 0.5]
    assert Allowance(absolute=0.5).of(np.array([3])).tolist() == [0.0]


def test_the_padding_of_an_x87_number_never_differs() -> None:
    """Of its 16 bytes ten are used."""
    runs = [np.array([1.0], np.longdouble), np.array([1.0], np.longdouble)]
    runs[1].view(np.uint8)[12] ^= 0xFF
    assert not mask_undetermined(runs, (1,)).any()
    runs[1].view(np.uint8)[9] ^= 0x40
    assert mask_undetermined(runs, (1,)).all()


def test_an_address_has_moved_where_it_is_one_in_each_run() -> None:
    rows = [(0x7F12_0000_1000, 5), (0x7F99_0000_1000, 5), (0x7F55_0000_1000, 5)]
    runs = [np.array(row, np.uint64).view(np.uint8) for row in rows]
    assert moved_addresses(runs, (16,)).tolist() == [True] * 8 + [False] * 8
    runs[2] = np.array((17, 5), np.uint64).view(np.uint8)
    assert not moved_addresses(runs, (16,)).any()
    assert not moved_addresses(runs[:1] * 2, (16,)).any()
