"""Columns hold what each op computes in a lane."""

from __future__ import annotations

import random

import numpy as np
import pytest

from warpsmith.analysis.counts.columns import Column, apply, column_of, dtype_of, has_columns
from warpsmith.ssa.nodes import Constant, Float, Instruction, Operand, Value
from warpsmith.ssa.ops import OPS
from warpsmith.ssa.semantics.lane import lane
from warpsmith.ssa.types import F32, F64, I1, I8, I16, I32, I64, Type

SHAPES = {"unary": 1, "binary": 2, "shift": 2, "compare": 2}
EDGES = (0, 1, 2, 31, 32, 33, 63, 64, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, (1 << 63), (1 << 64) - 1)


def _bits(chosen: random.Random, type: Type) -> int:
    return (chosen.choice(EDGES) if chosen.random() < 0.5 else chosen.getrandbits(64)) % (1 << type.bits)


def _column(type: Type, numbers: list[int]) -> Column:
    if type.bits == 1:
        return np.array(numbers, np.bool_)
    return np.array(numbers, np.uint64).astype(f"u{type.bytes}").view(dtype_of(type))


def _back(column: Column, type: Type) -> list[int]:
    return [int(n) % (1 << type.bits) for n in column]


def _check(op: str, types: tuple[Type, ...], made: Type, seed: int) -> None:
    chosen = random.Random(f"{op} {types} {seed}")
    operands: tuple[Operand, ...] = tuple(Value(type) for type in types)
    i = Instruction(op, operands, (Value(made),))
    assert has_columns(i)
    rows = [[_bits(chosen, type) for type in types] for _ in range(40)]
    columns = [_column(type, [row[at] for row in rows]) for at, type in enumerate(types)]
    with np.errstate(all="ignore"):
        found = _back(apply(i, columns), made)
    assert found == [lane(i, tuple(row))[0] for row in rows]


WIDTHS = (I8, I16, I32, I64)
INTEGERS = [row for row in OPS.values() if row.domain == "integer" and row.shape in SHAPES and row.pure]


@pytest.mark.parametrize("op", [row.name for row in INTEGERS if row.name not in ("to_generic", "from_generic")])
def test_whole_numbers(op: str) -> None:
    row = OPS[op]
    for type in WIDTHS:
        types = (type, I32) if row.shape == "shift" else (type,) * SHAPES[row.shape]
        _check(op, types, I1 if row.shape == "compare" else type, type.bits)


@pytest.mark.parametrize("op", ["and", "or", "xor", "not", "eq", "ne"])
def test_predicates(op: str) -> None:
    _check(op, (I1,) * (1 if op == "not" else 2), I1, 0)


@pytest.mark.parametrize(
    ("op", "types", "made"),
    [
        ("zext", (I1,), I32), ("zext", (I32,), I64), ("sext", (I1,), I32), ("sext", (I16,), I64),
        ("trunc", (I64,), I32), ("trunc", (I32,), I1), ("smulwide", (I32, I32), I64),
        ("umulwide", (I32, I32), I64), ("select", (I1, I32, I32), I32),
        ("uextract", (I32, I32, I32), I32), ("popcount", (I64,), I32),
    ],
)  # fmt: skip
def test_other_shapes(op: str, types: tuple[Type, ...], made: Type) -> None:
    _check(op, types, made, 1)


def test_a_constant_is_one_number_with_its_sign() -> None:
    assert column_of(Constant(I32, (1 << 32) - 3)).tolist() == [-3]
    assert column_of(Constant(I1, 1)).tolist() == [True]


FLOATS = (0x7FC00000, 0xFFC00001, 0x7F800000, 0xFF800000, 0x80000000, 1, 0x00800000, 0x3F800000, 0x7F7FFFFF)


@pytest.mark.parametrize("op", ["fadd", "fsub", "fmul"])
@pytest.mark.parametrize("type", [F32, F64])
def test_numbers_of_floating_point(op: str, type: Type, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = tuple(bits << 32 for bits in FLOATS) if type is F64 else FLOATS
    monkeypatch.setitem(globals(), "EDGES", wide)
    for seed in range(4):
        _check(op, (type, type), type, seed)


@pytest.mark.parametrize("op", ["sitof", "uitof"])
def test_whole_numbers_become_floats(op: str) -> None:
    for own in WIDTHS:
        for type in (F32, F64):
            _check(op, (own,), type, 0)


def test_a_rounding_that_is_not_to_nearest_is_kept() -> None:
    chosen = random.Random(1)
    rows = [[chosen.getrandbits(30) | 0x20000000 for _ in range(2)] for _ in range(200)]
    columns = [_column(F32, [row[at] for row in rows]) for at in range(2)]
    for detail in (Float("zero"), Float(flush=True), Float(saturate=True)):
        i = Instruction("fadd", (Value(F32), Value(F32)), (Value(F32),), detail)
        assert _back(apply(i, columns), F32) == [lane(i, tuple(row))[0] for row in rows]
