"""Conversions of values by assignments and casts, and the op that stands for each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lower.harness import answers, code
from warpsmith.lower.conversions import convert_value, is_signed, number, resize_integer, truth
from warpsmith.lower.layout import NotModeled
from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import Constant
from warpsmith.ssa.types import F32, I1, I8, I32, I64
from warpsmith.tree.types import BOOL, DOUBLE, FLOAT, INT, UNSIGNED, Pointer, Scalar

VALUES: dict[str, list[int | float]] = {
    "oi[t] = (signed char)(t + 126)": [126, 127, -128, -127, -126, -125, -124, -123],
    "oi[t] = (unsigned char)(t - 2)": [254, 255, 0, 1, 2, 3, 4, 5],
    "oi[t] = (bool)(t & 2) + (bool)0.5f": [1, 1, 2, 2, 1, 1, 2, 2],
    "oi[t] = (int)((t - 4) * 0.75f)": [-3, -2, -1, 0, 0, 0, 1, 2],
    "ol[t] = (long long)(t - 1)": [-1, 0, 1, 2, 3, 4, 5, 6],
    "ol[t] = (unsigned)(t - 1)": [4294967295, 0, 1, 2, 3, 4, 5, 6],
    "of[t] = (unsigned)(t - 1)": [4294967296.0, 0, 1, 2, 3, 4, 5, 6],
    "of[t] = t > 3": [0, 0, 0, 0, 1, 1, 1, 1],
    "od[t] = (float)(0.1 * t)": [pytest.approx((0.1 * t), rel=1e-7) for t in range(8)],  # type: ignore[misc]
}


def test_values_are_those_of_c(tmp_path: Path) -> None:
    assert answers(VALUES, tmp_path) == VALUES


def test_an_address_made_a_number_is_told_apart(tmp_path: Path) -> None:
    made = code(["ol[t] = (long long)in", "oi[t] = *(int *)(ol[t] + 8)"], tmp_path)
    assert all("bitcast" in text for text, _ in made.values())


def test_constants_are_converted_at_once() -> None:
    b = Builder("a")
    assert number(F32, 1.5) == Constant(F32, 0x3FC00000) and number(I8, -1) == Constant(I8, 255)
    assert resize_integer(b, constant(I8, -1), I32, signed=True) == constant(I32, -1)
    assert resize_integer(b, constant(I8, -1), I32, signed=False) == constant(I32, 255)
    assert resize_integer(b, constant(I1, 1), I32, signed=True) == constant(I32, 1)
    assert resize_integer(b, constant(I64, 2**32 + 5), I32, signed=True) == constant(I32, 5)
    assert truth(b, constant(I1, 1)) == constant(I1, 1)
    assert is_signed(INT) and not is_signed(UNSIGNED) and not is_signed(BOOL) and not is_signed(FLOAT)


def test_numbers_of_one_size_and_two_kinds_are_not_modeled() -> None:
    half, brain = Scalar("half", 16, "float"), Scalar("__bf16", 16, "float")
    b = Builder("a")
    value = b.emit("param", (), convert_value(b, number(F32, 1), FLOAT, half).type)
    with pytest.raises(NotModeled, match="a conversion from"):
        convert_value(b, value, half, brain)
    with pytest.raises(NotModeled, match="a value of type"):
        convert_value(b, value, half, Scalar("void", 0, "void"))
    assert convert_value(b, constant(I32, 0), INT, Pointer(DOUBLE)) == constant(I64, 0)
