"""Numbers as patterns, and exact numbers rounded to them."""

from __future__ import annotations

import math
import random
import struct
from fractions import Fraction

import pytest

from warpsmith.ssa.nodes import Rounding
from warpsmith.ssa.semantics.patterns import number_of, pattern_of, round_exact, to_signed
from warpsmith.ssa.types import BF16, F16, F32, F64, I16, Type


def test_numbers_come_back() -> None:
    assert [to_signed(bits, I16) for bits in (0, 0x7FFF, 0x8000, 0xFFFF)] == [0, 32767, -32768, -1]
    for type in (F16, F32, F64, BF16):
        assert number_of(pattern_of(-1.5, type), type) == -1.5
    assert pattern_of(1e300, F32) == 0x7F800000 and pattern_of(-1e300, F16) == 0xFC00
    assert pattern_of(math.nan, BF16) == 0x7FFF
    # halfway between two numbers of bfloat16: to the even one
    assert (pattern_of(1 + 2**-8, BF16), pattern_of(1 + 3 * 2**-8, BF16)) == (0x3F80, 0x3F82)


@pytest.mark.parametrize("type", [F16, F32, F64])
def test_a_rounding_keeps_to_its_side_and_takes_the_next_number(type: Type) -> None:
    chosen = random.Random(5)
    sides: dict[Rounding, int] = {"down": -1, "up": 1, "zero": 0}
    for _ in range(200):
        value = Fraction(chosen.randint(-(10**9), 10**9), chosen.randint(1, 10**7)) / 7
        for rounding, side in sides.items():
            made = Fraction(number_of(round_exact(value, type, rounding), type))
            wanted = side or (-1 if value > 0 else 1)
            assert (made - value) * wanted >= 0
            near = Fraction(number_of(round_exact(value, type, "nearest"), type))
            assert made == near or (near - value) * wanted < 0


def test_beyond_the_largest_number() -> None:
    assert round_exact(Fraction(10**6), F16, "nearest") == 0x7C00
    assert round_exact(Fraction(10**6), F16, "down") == 0x7BFF
    assert round_exact(Fraction(-(10**6)), F16, "zero") == 0xFBFF


def test_ops_give_one_nan_of_each_type() -> None:
    quiet = struct.unpack("<d", (0xFFF8000000000123).to_bytes(8, "little"))[0]
    for value in (math.nan, -math.nan, quiet, math.inf - math.inf):
        found = [pattern_of(value, type) for type in (F16, BF16, F32, F64)]
        assert found == [0x7FFF, 0x7FFF, 0x7FFFFFFF, 0x7FF8000000000000]
