"""Every op on floats against its meaning: zeros, subnormal numbers, infinities, what is no number."""

from __future__ import annotations

import itertools
import random

import pytest

from tests.targets.mask.evaluated import evaluate
from warpsmith.ssa.nodes import Constant, Convert, Instruction, Value
from warpsmith.ssa.ops import OPS
from warpsmith.ssa.semantics.lane import lane
from warpsmith.ssa.types import F32, I1, I32, Type
from warpsmith.targets.mask.code import MaskCode
from warpsmith.targets.mask.numbers import FLOATS

_CHOSEN = random.Random(20)
EDGES = (
    0, 0x80000000, 1, 0x80000001, 0x007FFFFF, 0x00800000, 0x3F000000, 0x3F800000, 0xBF800000, 0x3FC00000, 0x40490FDB,
    0x4B7FFFFF, 0x4B800000, 0x4EFFFFFF, 0x4F000000, 0xCF000000, 0xCF000001, 0x4F7FFFFF, 0x4F800000, 0x7F7FFFFF,
    0x7F800000, 0xFF800000, 0x7FC00000, 0xFFFFFFFF, 0x7F800001,
)  # fmt: skip
NUMBERS = (*EDGES, *(_CHOSEN.getrandbits(32) for _ in range(6)))
WHOLE = (0, 1, 0xFFFFFF, 0x1000001, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFF7F, 0xFFFFFFFF, 0x7FFFFFBF, 0x7FFFFFC0)


def _types(op: str) -> tuple[Type, Type, int]:
    if op in ("sitof", "uitof"):
        return I32, F32, 1
    if op in ("ftosi", "ftoui"):
        return F32, I32, 1
    shape = OPS[op].shape
    return F32, I1 if shape == "compare" else F32, 1 if shape == "unary" else 2


def _plain(bits: int, type: Type) -> int:
    return 0x7FC00000 if type == F32 and bits & 0x7FFFFFFF > 0x7F800000 else bits


@pytest.mark.slow
@pytest.mark.parametrize("op", list(FLOATS))
def test_an_op_is_composed_exactly(op: str) -> None:
    taken, made, count = _types(op)
    detail = Convert("zero") if op in ("ftosi", "ftoui") else None
    for numbers in itertools.product(NUMBERS if taken == F32 else WHOLE, repeat=count):
        i = Instruction(op, tuple(Constant(taken, one) for one in numbers), (Value(made),), detail)
        (wanted,) = lane(i, numbers)
        for fixed in range(1 << count):
            code = MaskCode()
            words = [one if fixed >> at & 1 else code.virtual() for at, one in enumerate(numbers)]
            given = {word: one for word, one in zip(words, numbers, strict=True) if not isinstance(word, int)}
            found = evaluate(code, given, FLOATS[op](code, *words))
            assert _plain(found, made) == _plain(wanted, made), (op, [hex(one) for one in numbers], fixed)
