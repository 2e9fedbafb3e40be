"""A number with a slope is what it says at every step."""

from __future__ import annotations

import random

import numpy as np
import pytest

from warpsmith.analysis.counts.columns import Column, apply
from warpsmith.analysis.counts.slopes import STEADY, UNEVEN, Known, Lacking, result_of
from warpsmith.ssa.nodes import Instruction, Operand, Value
from warpsmith.ssa.types import I1, I32, I64, Type

STEPS = 6


def _known(chosen: random.Random, type: Type, *, moves: bool) -> Known:
    if type == I1:
        return Known(np.array([chosen.random() < 0.5 for _ in range(4)]))
    numbers = [chosen.choice((0, 1, -1, 5, 1000, (1 << 31) - 30, 7 - (1 << 31))) for _ in range(4)]
    column = np.array(numbers, f"i{type.bytes}")
    slope = np.array([chosen.choice((0, 1, 4, -7)) for _ in range(4)])
    last = column.astype(np.int64) + STEPS * slope
    # a number that wraps on the way has no slope
    moves = moves and bool((last == last.astype(column.dtype)).all())
    return Known(column, {"k": slope} if moves else {})


def _at(known: Known, step: int) -> Column:
    slope = known.slopes.get("k")
    if slope is None or isinstance(slope, str):
        return known.column
    with np.errstate(all="ignore"):
        moved: Column = (known.column.astype(np.int64) + step * slope).astype(known.column.dtype)
    return moved


OPS = {
    "add": (I32, I32, I32), "sub": (I32, I32, I32), "mul": (I32, I32, I32), "shl": (I32, I32, I32), "neg": (I32, I32),
    "sext": (I32, I64), "zext": (I32, I64), "trunc": (I64, I32), "smulwide": (I32, I32, I64), "and": (I32, I32, I32),
    "umulwide": (I32, I32, I64), "select": (I1, I32, I32, I32), "slt": (I32, I32, I1), "ult": (I32, I32, I1),
    "udiv": (I32, I32, I32), "smin": (I32, I32, I32), "eq": (I32, I32, I1), "urem": (I32, I32, I32),
}  # fmt: skip


@pytest.mark.parametrize("op", OPS)
def test_a_slope_holds_at_every_step(op: str) -> None:
    *types, made = OPS[op]
    even = 0
    for seed in range(300):
        chosen = random.Random(f"{op} {seed}")
        operands: tuple[Operand, ...] = tuple(Value(type) for type in types)
        i = Instruction(op, operands, (Value(made),))
        known = [_known(chosen, type, moves=chosen.random() < 0.7) for type in types]
        if op == "shl":
            known[1] = Known(np.array([chosen.randrange(4)], np.int32))
        if op == "urem" or (op == "and" and chosen.random() < 0.5):
            known[1] = Known(np.array([chosen.choice((1, 2, 4, 16)) - (op == "and")], np.int32))
        with np.errstate(all="ignore"):
            found = result_of(i, known, {"k": np.array([STEPS])})
            assert isinstance(found, Known)
            slope = found.slopes.get("k")
            runs = [apply(i, [_at(one, step) for one in known]) for step in range(STEPS + 1)]
        if slope == STEADY if isinstance(slope, str) else False:
            answers = np.stack(runs)
            same_ends = answers[0] == answers[-1]
            assert (answers == answers[0])[:, same_ends].all()
        elif not isinstance(slope, str):
            even += slope is not None
            moves = np.zeros(1, np.int64) if slope is None else slope
            for step, run in enumerate(runs):
                assert (run.astype(np.int64) == runs[0].astype(np.int64) + step * moves).all()
    assert even >= 3 or made == I1 or op in ("and", "urem", "udiv", "smin")


def test_an_address_moves_by_what_is_known() -> None:
    pointer, number = Known(np.array([1 << 40]), {}, "p"), Known(np.array([8]))
    add, multiply, less = (
        Instruction(op, (Value(I64), Value(I64)), (Value(made),))
        for op, made in (("add", I64), ("mul", I64), ("slt", I1))
    )
    moved = result_of(add, (pointer, number), {})
    assert isinstance(moved, Known) and moved.pointer == "p" and moved.column.tolist() == [(1 << 40) + 8]
    assert result_of(multiply, (pointer, number), {}) == Lacking("the argument p")
    assert result_of(less, (pointer, number), {}) == Lacking("the argument p")
    assert result_of(add, (pointer, Known(np.array([1 << 41]), {}, "q")), {}) == Lacking("the argument q")
    assert result_of(add, (Lacking("x"), number), {}) == Lacking("x")


def test_a_product_of_two_that_move_is_uneven() -> None:
    i = Instruction("mul", (Value(I32), Value(I32)), (Value(I32),))
    one = Known(np.array([2], np.int32), {"k": np.array([1])})
    found = result_of(i, (one, one), {"k": np.array([4])})
    assert isinstance(found, Known) and found.slopes == {"k": UNEVEN}


def test_an_array_begins_at_a_multiple_of_256() -> None:
    address = Known(np.array([8, 16, 24]), {"k": np.array([32])}, "a")
    both: tuple[Operand, ...] = (Value(I64), Value(I64))
    found = result_of(Instruction("urem", both, (Value(I64),)), [address, Known(np.array([16]))], {})
    assert isinstance(found, Known) and not found.pointer and not found.slopes
    assert found.column.tolist() == [8, 0, 8]
    uneven = result_of(Instruction("urem", both, (Value(I64),)), [address, Known(np.array([64]))], {})
    assert isinstance(uneven, Known) and uneven.slopes == {"k": UNEVEN}
    for number in (512, 24):
        found = result_of(Instruction("urem", both, (Value(I64),)), [address, Known(np.array([number]))], {})
        assert isinstance(found, Lacking) and "argument a" in found.why
