"""Fused sums, against fractions of integers."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from warpsmith.simt.gcn.ops.exact import fused, fused_scaled


def _numbers(seed: int, type: type[np.floating]) -> list[np.ndarray]:
    made = random.Random(seed)
    rows = []
    for _ in range(3):
        exponents = [made.choice((0, 1, -1, 12, -12, 24, -25, 60, -60)) for _ in range(500)]
        rows.append(np.array([made.uniform(-2, 2) * 2.0**e for e in exponents], type))
    rows[2][::3] = -(rows[0][::3] * rows[1][::3])  # what almost cancels
    return rows


@pytest.mark.parametrize("type", [np.float32, np.float64])
def test_a_sum_is_rounded_once(type: type[np.floating]) -> None:
    for seed in range(4):
        a, b, c = _numbers(seed, type)
        found = fused(a, b, c)
        for x, y, z, got in zip(a, b, c, found, strict=True):
            exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
            error = abs(Fraction(float(got)) - exact)
            for other in (np.nextafter(got, type(np.inf)), np.nextafter(got, type(-np.inf))):
                assert error <= abs(Fraction(float(other)) - exact)


def test_what_is_not_finite_is_as_ever() -> None:
    a, b, c = (
        np.array(row, np.float64) for row in ([np.inf, np.inf, 1, -0.0], [0, 2, np.nan, 1], [1, -np.inf, 1, -0.0])
    )
    found = fused(a, b, c)
    assert np.isnan(found[:3]).all()
    assert np.signbit(found[3])
    big = np.array([1e200])
    assert fused(big, big, np.array([-np.inf]))[0] == -np.inf
    assert fused(big, big, np.array([0.0]))[0] == np.inf


def test_a_scaled_sum_is_rounded_once() -> None:
    one = np.array([1 + 2.0**-23], np.float32)
    # 2^-140 has ten bits left: rounding to f32 first would round twice
    found = fused_scaled(one, one, np.array([2.0**-40], np.float32), np.array([-140], np.int32))
    exact = (Fraction(float(one[0])) ** 2 + Fraction(2) ** -40) * Fraction(2) ** -140
    assert abs(Fraction(float(found[0])) - exact) <= Fraction(2) ** -150
