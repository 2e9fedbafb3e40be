"""Floats: every op, at the edges, by the letter of what is written."""

from __future__ import annotations

import pytest

from tests.targets.il.writing.agree import agree
from tests.targets.il.writing.one_op import FLOATS, NUMBERS, op_case
from warpsmith.ssa.nodes import Convert, Float, Rounding
from warpsmith.ssa.types import F32, I1, I32
from warpsmith.targets.il.writing.numbers import FLOATS as OPS

_TWO = ("fadd", "fsub", "fmul", "fdiv", "fmin", "fmax", "copysign")
_OF_LIBRARY = ("sin", "cos", "exp2", "log2", "rsqrt")
"""Off by a unit in the last place, as two libraries are."""


@pytest.mark.parametrize("op", sorted(set(OPS) - {*_OF_LIBRARY, "sitof", "uitof"}))
def test_an_op_on_floats_is_exact(op: str) -> None:
    is_test = op.startswith(("fo", "fu", "is_")) or op in ("ordered", "unordered")
    count = 3 if op == "ffma" else 2 if op in _TWO or (is_test and not op.startswith("is_")) else 1
    assert agree(op_case(op, (F32,) * count, I1 if is_test else F32, FLOATS), letter=True, floats=True) == ""


@pytest.mark.parametrize("op", _OF_LIBRARY)
def test_so_are_functions_when_the_text_is_read_back(op: str) -> None:
    assert agree(op_case(op, (F32,), F32, FLOATS)) == ""


@pytest.mark.parametrize("op", ["fmin", "fmax"])
@pytest.mark.parametrize("number", [FLOATS[0], FLOATS[1], FLOATS[2], FLOATS[-1]])
def test_so_is_the_lesser_one_of_what_is_known(op: str, number: int) -> None:
    assert agree(op_case(op, (F32, F32), F32, FLOATS, fixed=number), letter=True, floats=True) == ""


@pytest.mark.parametrize("rounding", ["", "nearest", "zero", "down", "up"])
def test_floats_become_whole_as_they_are_rounded(rounding: Rounding) -> None:
    for op in ("ftosi", "ftoui"):
        assert agree(op_case(op, (F32,), I32, FLOATS, detail=Convert(rounding)), letter=True) == ""
    assert agree(op_case("fround", (F32,), F32, FLOATS, detail=Float(rounding)), letter=True) == ""


@pytest.mark.parametrize("op", ["sitof", "uitof"])
def test_whole_numbers_become_floats(op: str) -> None:
    assert agree(op_case(op, (I32,), F32, NUMBERS), letter=True) == ""
