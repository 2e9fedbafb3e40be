"""Comparisons and tests where a number is none, or subnormal."""

from __future__ import annotations

import math

import pytest

from tests.ssa.semantics.one_op import compute
from warpsmith.ssa.nodes import Float
from warpsmith.ssa.semantics.patterns import pattern_of
from warpsmith.ssa.types import F32, I1, I32

ORDERS = ("eq", "ne", "lt", "le", "gt", "ge")


def test_beside_a_nan_ordered_comparisons_are_false_and_the_others_true() -> None:
    pair = pattern_of(math.nan, F32), pattern_of(1.0, F32)
    for order in ORDERS:
        assert compute(f"fo{order}", (F32, F32), (I1,), *pair) == (0,)
        assert compute(f"fu{order}", (F32, F32), (I1,), *pair) == (1,)
    assert compute("ordered", (F32, F32), (I1,), *pair) == (0,)
    assert compute("unordered", (F32, F32), (I1,), *pair) == (1,)


def test_what_is_flushed_is_zero() -> None:
    tiny = pattern_of(1e-40, F32)
    assert compute("foeq", (F32, F32), (I1,), tiny, 0) == (0,)
    assert compute("foeq", (F32, F32), (I1,), tiny, 0, detail=Float(flush=True)) == (1,)


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (1.0, {"finite", "number", "normal"}),
        (1e-40, {"finite", "number", "subnormal"}),
        (0.0, {"finite", "number"}),
        (-math.inf, {"infinite", "number"}),
        (math.nan, {"notanumber"}),
    ],
)
def test_kinds_of_numbers(number: float, told: set[str]) -> None:
    kinds = ("finite", "infinite", "number", "notanumber", "normal", "subnormal")
    bits = pattern_of(number, F32)
    assert {kind for kind in kinds if compute(f"is_{kind}", (F32,), (I1,), bits) == (1,)} == told


def test_signs() -> None:
    assert compute("slt", (I32, I32), (I1,), 0xFFFFFFFF, 0) == (1,)
    assert compute("ult", (I32, I32), (I1,), 0xFFFFFFFF, 0) == (0,)
