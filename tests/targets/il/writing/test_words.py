"""Whole numbers and predicates: every op, at the edges, by the letter of what is written."""

from __future__ import annotations

import pytest

from tests.targets.il.writing.agree import agree
from tests.targets.il.writing.one_op import NUMBERS, op_case
from warpsmith.ssa.types import I1, I32
from warpsmith.targets.il.writing.code import IlCode, component
from warpsmith.targets.il.writing.words import PREDICATES, WHOLE

_TESTS = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_ONE = ("not", "neg", "abs", "popcount")
_SHIFTS = ("shl", "lshr", "ashr")


@pytest.mark.parametrize("op", sorted(WHOLE))
def test_an_op_on_whole_numbers_is_exact(op: str) -> None:
    if op == "select":
        case = op_case(op, (I1, I32, I32), I32, NUMBERS)
    else:
        case = op_case(op, (I32,) * (1 if op in _ONE else 2), I1 if op in _TESTS else I32, NUMBERS)
    assert agree(case, letter=True) == ""


@pytest.mark.parametrize("op", ["udiv", "urem", "sdiv", "srem", "mul", *_SHIFTS])
@pytest.mark.parametrize("number", [0, 1, 4, 7, 32, 0xFFFFFFFF])
def test_so_it_is_where_an_operand_is_known(op: str, number: int) -> None:
    assert agree(op_case(op, (I32, I32), I32, NUMBERS, fixed=number), letter=True) == ""


@pytest.mark.parametrize("op", sorted(PREDICATES))
def test_an_op_on_predicates_is_exact(op: str) -> None:
    types = {"not": (I1,), "select": (I1, I1, I1)}.get(op, (I1, I1))
    assert agree(op_case(op, types, I1, (0, 1)), letter=True) == ""


@pytest.mark.parametrize("op", ["zext", "sext"])
def test_a_predicate_becomes_a_number(op: str) -> None:
    assert agree(op_case(op, (I1,), I32, (0, 1)), letter=True) == ""


@pytest.mark.parametrize(("op", "name"), [("shl", "ishl"), ("lshr", "ushr"), ("ashr", "ishr")])
def test_an_amount_that_is_known_to_be_less_than_the_width_needs_no_care(op: str, name: str) -> None:
    code = IlCode()
    one, amount = component(code.register()), component(code.register())
    WHOLE[op](code, one, code.compute("iand", amount, 31))
    assert [line.op.name for line in code.lines] == ["iand", name]
    WHOLE[op](code, one, code.compute("iand", amount, 63))
    assert len(code.lines) > 4


def test_a_product_by_a_power_of_two_is_a_shift() -> None:
    code = IlCode()
    code.compute("iadd", WHOLE["mul"](code, component(code.register()), 8), 1)
    assert [line.op.name for line in code.lines] == ["ishl", "iadd"]
