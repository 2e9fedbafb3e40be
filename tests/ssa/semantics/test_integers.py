"""Ops of whole numbers on numbers that were worked out by hand."""

from __future__ import annotations

import pytest

from tests.ssa.semantics.one_op import compute
from warpsmith.ssa.types import I1, I8, I32


@pytest.mark.parametrize(
    ("op", "operands", "expected"),
    [
        # PTX ISA 9.0: prmt, lop3, shf, bfe, bfi, dp4a by hand
        ("permute", (0x33221100, 0x77665544, 0x7531), 0x77553311),
        ("permute", (0x00000080, 0, 0x8880), 0xFFFFFF80),
        ("logic3", (0b1100, 0b1010, 0b1110, 0x80), 0b1000),
        ("logic3", (0xF0F0, 0xFF00, 0x0FF0, 0x96), 0xF0F0 ^ 0xFF00 ^ 0x0FF0),
        ("funnel_left", (0x80000000, 0x1, 1), 0x3),
        ("funnel_left_clamp", (0xABCD, 0x1, 40), 0xABCD),
        ("funnel_right", (0x2, 0x1, 33), 0x80000001),
        ("funnel_right_clamp", (0x2, 0x77, 32), 0x77),
        ("uextract", (0xABCD1234, 8, 8), 0x12),
        ("uextract", (0xABCD1234, 40, 8), 0),
        ("sextract", (0x0000F000, 12, 4), 0xFFFFFFFF),
        ("sextract", (0x80000000, 28, 16), 0xFFFFFFF8),
        ("sdot4", (0xFF, 0x02, 10), 8),
        ("udot4", (0xFF, 0x02, 10), 520),
    ],
)
def test_bit_ops_by_hand(op: str, operands: tuple[int, ...], expected: int) -> None:
    assert compute(op, (I32,) * len(operands), (I32,), *operands) == (expected,)


def test_carries() -> None:
    assert compute("add_carry", (I32, I32, I1), (I32, I1), 0xFFFFFFFF, 0, 1) == (0, 1)
    assert compute("sub_borrow", (I32, I32), (I32, I1), 0, 1) == (0xFFFFFFFF, 1)
    assert compute("insert", (I32,) * 4, (I32,), 0b11, 0, 4, 2) == (0b110000,)


@pytest.mark.parametrize(
    ("op", "operands", "expected"),
    [("saddsat", (100, 100), 127), ("uaddsat", (200, 100), 255), ("usubsat", (1, 2), 0), ("ssubsat", (0x80, 1), 0x80)],
)
def test_what_saturates_stays_at_the_end_of_its_range(op: str, operands: tuple[int, int], expected: int) -> None:
    assert compute(op, (I8, I8), (I8,), *operands) == (expected,)
