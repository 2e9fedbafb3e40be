"""Ops of floating-point numbers where nothing is rounded: what is not finite, zeros, what is flushed and saturated."""

from __future__ import annotations

import math

import pytest

from tests.ssa.semantics.one_op import compute
from warpsmith.ssa.nodes import Float
from warpsmith.ssa.semantics.patterns import number_of, pattern_of
from warpsmith.ssa.types import F32

NONE, LARGE, TINY = math.nan, 3e38, 1e-40


def found(op: str, *numbers: float, detail: Float | None = None) -> float:
    operands = [pattern_of(number, F32) for number in numbers]
    (bits,) = compute(op, (F32,) * len(numbers), (F32,), *operands, detail=detail)
    return number_of(bits, F32)


def test_what_is_not_finite() -> None:
    assert found("fdiv", 1.0, -0.0) == -math.inf and math.isnan(found("fdiv", 0.0, 0.0))
    assert found("fadd", LARGE, LARGE) == math.inf
    assert found("ffma", LARGE, LARGE, -math.inf) == -math.inf
    assert found("exp2", 5000.0) == math.inf and found("log2", 0.0) == -math.inf and math.isnan(found("sqrt", -1.0))


def test_the_number_beside_a_nan() -> None:
    assert found("fmin", NONE, 2.0) == 2.0 and math.isnan(found("fmin_nan", NONE, 2.0))


@pytest.mark.parametrize(("op", "sign"), [("fmin", -1.0), ("fmax", 1.0)])
def test_of_two_zeros(op: str, sign: float) -> None:
    assert math.copysign(1.0, found(op, 0.0, -0.0)) == sign
    assert math.copysign(1.0, found(op, -0.0, 0.0)) == sign


def test_what_cancels_is_below_zero_only_where_it_is_rounded_down() -> None:
    assert math.copysign(1.0, found("fsub", 1.0, 1.0)) == 1.0
    assert math.copysign(1.0, found("fsub", 1.0, 1.0, detail=Float("down"))) == -1.0


def test_what_is_flushed_and_saturated() -> None:
    flushed, saturated = Float(flush=True), Float(saturate=True)
    assert found("fmul", TINY, 1.0) != 0.0 and found("fmul", TINY, 1.0, detail=flushed) == 0.0
    assert [found("fadd", a, 0.0, detail=saturated) for a in (-2.0, 0.5, 2.0, NONE)] == [0.0, 0.5, 1.0, 0.0]


def test_whole_numbers() -> None:
    ways = {"zero": -2.0, "down": -3.0, "up": -2.0, "nearest": -2.0}
    for rounding, expected in ways.items():
        assert found("fround", -2.5, detail=Float(rounding)) == expected  # type: ignore[arg-type]
    assert math.copysign(1.0, found("fround", -0.25)) == -1.0
