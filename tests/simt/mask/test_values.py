"""Operations against arithmetic of doubles, rounded once: that is exact for one operation of floats."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest

from warpsmith.simt.mask.values import NAN, compute, floats, to_words

MADE = np.random.default_rng(3)
SPECIAL = [0, 0x80000000, 0x3F800000, 0x7F800000, 0xFF800000, NAN, 0x7F800001, 1, 0x7F7FFFFF, 0xFFFFFFFF, 0x00800000]
A = np.concatenate([np.repeat(SPECIAL, len(SPECIAL)), MADE.integers(0, 1 << 32, 300)]).astype(np.uint32)
B = np.concatenate([np.tile(SPECIAL, len(SPECIAL)), MADE.integers(0, 1 << 32, 300)]).astype(np.uint32)


def number(word: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", word))[0])


def rounded(value: float) -> int:
    if math.isnan(value):
        return NAN
    with np.errstate(over="ignore"):
        return int(np.array([value]).astype(np.float32).view(np.uint32)[0])


def one(name: str, *words: int) -> int:
    return int(compute(name, tuple(np.array([[word]], np.uint32) for word in words))[0, 0])


@pytest.mark.parametrize("name", ["add.f32", "sub.f32", "mul.f32"])
def test_arithmetic_of_floats_is_rounded_once(name: str) -> None:
    with np.errstate(all="ignore"):
        a, b = floats(A).astype(np.float64), floats(B).astype(np.float64)
        exact = {"add.f32": a + b, "sub.f32": a - b, "mul.f32": a * b}[name]
        expected = [rounded(float(value)) for value in exact]
    assert compute(name, (A[np.newaxis], B[np.newaxis]))[0].tolist() == expected


def test_division() -> None:
    for a, b in zip(A.tolist(), B.tolist(), strict=True):
        divisor = number(b)
        with np.errstate(all="ignore"):
            expected = rounded(1e23) if divisor == 0 else rounded(float(np.float64(number(a)) / np.float64(divisor)))
        assert one("div.f32", a, b) == expected
        assert one("div.u32", a, b) == (0xFFFFFFFF if b == 0 else a // b)


def test_whole_numbers_wrap_around() -> None:
    top = 0xFFFFFFFF
    assert one("add.u32", top, 2) == 1 and one("sub.u32", 0, 1) == top
    assert one("mul.u32", top, top) == 1 and one("mad.u32", top, 2, 5) == 3
    assert one("and", 12, 10) == 8 and one("or", 12, 10) == 14
    assert one("utof", top) == rounded(2.0**32) and one("utof", 16777217) == rounded(16777216.0)


def test_comparisons_give_0_or_1() -> None:
    assert (one("lt.u32", 1, 2), one("lt.u32", 2, 2), one("gt.u32", 0xFFFFFFFF, 0)) == (1, 0, 1)
    minus = rounded(-1.0)
    assert (one("lt.f32", minus, 0), one("gt.f32", minus, 0), one("lt.f32", NAN, 0), one("gt.f32", NAN, 0)) == (
        1,
        0,
        0,
        0,
    )
    assert one("lt.f32", 0x80000000, 0) == 0


def test_two_roundings_where_products_are_added() -> None:
    near = rounded(1 + 2**-12)
    # the square is 1 + 2^-11 + 2^-24: its last bit is lost before 1 is taken away
    assert one("mad.f32", near, near, rounded(-1.0)) == rounded(2.0**-11)
    assert one("lerp", rounded(2.0), rounded(4.0), rounded(0.25)) == rounded(2.5)


def test_clamp_and_the_absolute_value() -> None:
    cases = {-2.0: 0.0, 0.25: 0.25, 7.0: 1.0, math.inf: 1.0, -0.0: 0.0}
    assert all(one("clamp", rounded(value)) == rounded(expected) for value, expected in cases.items())
    assert one("clamp", NAN) == 0
    assert one("abs.f32", rounded(-2.5)) == rounded(2.5) and one("abs.f32", 0x80000000) == 0


def test_length_and_direction() -> None:
    vector = to_words(np.array([[3.0], [4.0], [0.0], [12.0]], np.float32))
    assert compute("len", (vector,)).tolist() == [[rounded(13.0)]]
    assert compute("norm", (vector[:2],)).tolist() == [[rounded(0.6)], [rounded(0.8)]]
    assert compute("norm", (np.zeros((3, 1), np.uint32),)).tolist() == [[0]] * 3


def test_what_is_no_number_is_always_the_same_word() -> None:
    assert one("add.f32", 0x7FC12345, 0) == NAN and one("sub.f32", 0x7F800000, 0x7F800000) == NAN
    assert one("mov", 0x7FC12345) == 0x7FC12345
