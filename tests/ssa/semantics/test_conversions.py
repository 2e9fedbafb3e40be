"""Conversions of what does not fit: PTX ISA, cvt: integers saturate, NaN becomes 0 (of 64 bits, the top bit)."""

from __future__ import annotations

import math

import pytest

from tests.ssa.semantics.one_op import compute
from warpsmith.ssa.nodes import Convert
from warpsmith.ssa.semantics.patterns import pattern_of
from warpsmith.ssa.types import BF16, F16, F32, F64, I8, I32, I64


@pytest.mark.parametrize(
    ("number", "signed", "unsigned"),
    [(300.0, 127, 255), (-300.0, 0x80, 0), (math.inf, 127, 255), (-math.inf, 0x80, 0), (math.nan, 0, 0)],
)
def test_to_integers(number: float, signed: int, unsigned: int) -> None:
    bits = pattern_of(number, F32)
    assert compute("ftosi", (F32,), (I8,), bits) == (signed,)
    assert compute("ftoui", (F32,), (I8,), bits) == (unsigned,)


def test_a_nan_of_64_bits() -> None:
    assert compute("ftosi", (F64,), (I64,), pattern_of(math.nan, F64)) == (1 << 63,)


def test_from_integers() -> None:
    assert compute("sitof", (I32,), (F32,), 0xFFFFFFFF) == (pattern_of(-1.0, F32),)
    # 2**24 + 1 lies between two numbers
    assert compute("uitof", (I32,), (F32,), (1 << 24) + 1) == (pattern_of(2.0**24, F32),)
    assert compute("uitof", (I32,), (F32,), (1 << 24) + 1, detail=Convert("up")) == (pattern_of(2.0**24 + 2, F32),)


def test_to_narrower_numbers() -> None:
    assert compute("ftrunc", (F32,), (F16,), pattern_of(1e6, F32)) == (0x7C00,)
    assert compute("ftrunc", (F32,), (BF16,), pattern_of(1e6, F32)) == (pattern_of(1e6, BF16),)
    saturated = Convert(saturate=True)
    assert compute("ftrunc", (F64,), (F32,), pattern_of(7.5, F64), detail=saturated) == (pattern_of(1.0, F32),)
    assert compute("fext", (F16,), (F32,), 0xFC00) == (pattern_of(-math.inf, F32),)
