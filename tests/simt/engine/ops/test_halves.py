"""Ops of 16-bit floating-point formats, against the interpreter's meaning of them."""

from __future__ import annotations

import random
import struct

import pytest
from msgspec.structs import replace

from tests.simt.engine.agree import Case, agree
from tests.simt.engine.test_instructions import NOTHING, THREADS, Shape, check, op_case
from warpsmith.ssa.nodes import Convert, Float
from warpsmith.ssa.semantics.patterns import number_of, pattern_of
from warpsmith.ssa.types import BF16, F16, F64, I1, Type

__all__ = ["fused_case", "ties_case"]

TRIED: tuple[Shape, ...] = (
    ("fadd", (F16, F16), (F16,), Float(flush=True)),
    ("fmin", (BF16, BF16), (BF16,), None),
    ("is_subnormal", (BF16,), (I1,), None),
)


def fused_case() -> Case:
    """Return a·b + c where the product is in the middle of two numbers, and c is too small for a double."""
    case = op_case(("ffma", (BF16,) * 3, (BF16,), None), 0)
    numbers = (3.0, 87 / 256, 2.0**-60), (3.0, 87 / 256, -(2.0**-60)), (-3.0, 87 / 256, 2.0**-60), (3.0, 85 / 256, 0.0)
    arrays = dict(case.arrays)
    for at in range(3):
        bits = [pattern_of(numbers[thread % len(numbers)][at], BF16) for thread in range(THREADS)]
        arrays[f"in{at}"] = (struct.pack(f"<{THREADS}H", *bits), True)
    return replace(case, arrays=arrays)


def ties_case(type: Type, how: Convert, seed: int) -> Case:
    """Return doubles that are rounded to 16 bits: in the middle of two numbers, and next to it."""
    chosen = random.Random(seed)
    case = op_case(("ftrunc", (F64,), (type,), how), seed)
    top = 0x7C00 if type == F16 else 0x7F80
    numbers = []
    for _ in range(THREADS):
        low = chosen.choice((0, 1, 2, chosen.randrange(top), chosen.randrange(64), top - 1, top - 2))
        one, other = (number_of(bits, type) for bits in (low, low + 1))
        middle = (one + other) / 2 if other != float("inf") else one + (one - number_of(low - 1, type)) / 2
        step = chosen.choice((0, 0, 1, -1)) * middle * 2.0**-52
        numbers.append(chosen.choice((1, -1)) * chosen.choice((middle + step, one)))
    return replace(case, arrays={**case.arrays, "in0": (struct.pack(f"<{THREADS}d", *numbers), True)})


@pytest.mark.parametrize("shape", TRIED, ids=lambda shape: shape[0])
def test_an_op_of_halves_computes_what_the_interpreter_does(shape: Shape) -> None:
    check(shape, 0)


def test_a_fused_sum_is_rounded_once() -> None:
    assert agree(fused_case(), NOTHING) == ""


@pytest.mark.parametrize(("type", "rounding"), [(F16, ""), (BF16, "up")])
def test_doubles_are_rounded_once(type: Type, rounding: str) -> None:
    assert agree(ties_case(type, Convert(rounding), 0), NOTHING) == ""  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("rounding", ["", "zero", "up", "down"])
@pytest.mark.parametrize("type", [F16, BF16])
def test_many_doubles_are_rounded_once(type: Type, rounding: str) -> None:
    for seed in range(20):
        assert agree(ties_case(type, Convert(rounding), seed), NOTHING) == ""  # type: ignore[arg-type]
