"""Every op on whole numbers against its meaning, on numbers at the edges, in registers and as immediates."""

from __future__ import annotations

import itertools
import random

import pytest

from tests.targets.mask.evaluated import evaluate
from warpsmith.ssa.nodes import Constant, Instruction, Value
from warpsmith.ssa.ops import OPS
from warpsmith.ssa.semantics.lane import lane
from warpsmith.ssa.types import I1, I32
from warpsmith.targets.mask.code import MaskCode
from warpsmith.targets.mask.words import WHOLE, equal, power_of_two, select, xor

EDGES = (0, 1, 2, 3, 31, 32, 33, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF)
_CHOSEN = random.Random(20)
NUMBERS = (*EDGES, *(_CHOSEN.getrandbits(32) for _ in range(4)))


def _arity(op: str) -> int:
    return 1 if OPS[op].shape in ("unary", "count") else 2


@pytest.mark.parametrize("op", [op for op in WHOLE if op != "select"])
def test_an_op_is_composed_exactly(op: str) -> None:
    made = I1 if OPS[op].shape == "compare" else I32
    for numbers in itertools.product(NUMBERS, repeat=_arity(op)):
        i = Instruction(op, tuple(Constant(I32, one) for one in numbers), (Value(made),))
        (wanted,) = lane(i, numbers)
        for fixed in range(1 << len(numbers)):
            code = MaskCode()
            words = [one if fixed >> at & 1 else code.virtual() for at, one in enumerate(numbers)]
            given = {word: one for word, one in zip(words, numbers, strict=True) if not isinstance(word, int)}
            assert evaluate(code, given, WHOLE[op](code, *words)) == wanted, (op, numbers, fixed)


@pytest.mark.parametrize("truth", [0, 1])
def test_a_predicate_selects(truth: int) -> None:
    for one, other in itertools.product(EDGES, repeat=2):
        code = MaskCode()
        words = [code.virtual() for _ in range(3)]
        given = dict(zip(words, (truth, one, other), strict=True))
        assert evaluate(code, given, select(code, *words)) == (one if truth else other)
        assert select(code, truth, words[1], words[2]) == (words[1] if truth else words[2])


def test_parts_of_which_others_are_made() -> None:
    code = MaskCode()
    assert (xor(code, 12, 10), equal(code, 5, 5), equal(code, 5, 6)) == (6, 1, 0)
    assert (power_of_two(code, 31), power_of_two(code, 32)) == (1 << 31, 0)
