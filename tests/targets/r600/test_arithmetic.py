"""Instructions of IL as operations of R600."""

from __future__ import annotations

import pytest

from tests.front.il.running import parse
from tests.front.il.test_read import HEAD
from warpsmith.front.il.ops import IL_OPS
from warpsmith.targets.r600.arithmetic import _COMPOSED, _SAME, _SWAPPED, R600, is_counted
from warpsmith.targets.r600.expand import expand
from warpsmith.targets.r600.operations import Values

NOT_COUNTED = {"fma", "sin_vec", "cos_vec", "icbits"}
"""How hardware does them, and on which generations, is not known here."""


def names(line: str) -> list[str]:
    program = parse(f"{HEAD}dcl_cb cb0[2]\n{line}\nendmain\nend\n")
    return [one.name for one in expand(program, R600(Values(), "r600", "one-sided")).operations]


def test_every_instruction_has_its_operations() -> None:
    computed = {op.name for op in IL_OPS.values() if op.form in ("map", "scalar")}
    assert computed - NOT_COUNTED == {*_SAME, *_SWAPPED, *_COMPOSED, "mov", "iadd"}
    assert all(is_counted(name) != (name in NOT_COUNTED) for name in computed)


@pytest.mark.parametrize(
    ("line", "operations"),
    [
        ("sub o0.x___, v0.x, v0.y", ["ADD"]),
        ("sub_sat o0.x___, v0.x, v0.y", ["ADD", "MOV"]),
        ("iadd o0.x___, v0.x, v0.y_neg(x)", ["SUB_INT"]),
        ("iadd o0.x___, v0.x_neg(x), v0.y", ["SUB_INT"]),
        ("iadd o0.x___, v0.x_neg(x), v0.y_neg(x)", ["SUB_INT", "SUB_INT"]),
        ("imul o0.x___, v0.x, v0.y_neg(x)", ["SUB_INT", "MULLO_INT"]),
        ("mad o0.x___, v0.x_neg(x), v0.y, v0.x", ["MULADD_IEEE"]),
        ("mad o0.x___, v0.x_abs, v0.y, v0.x", ["MOV", "MULADD_IEEE"]),
        ("div_zeroop(infinity) o0.x___, v0.x, v0.y", ["RECIP_IEEE", "MUL_IEEE"]),
        ("mod o0.x___, v0.x, v0.y", ["RECIP_IEEE", "MUL_IEEE", "TRUNC", "MUL_IEEE", "ADD"]),
        ("cmov_logical o0.x___, v0.x, v0.y, v0.x", ["CNDE_INT"]),
        ("add o0.xy__, v0.xx00, v0.yy00", ["ADD"]),
    ],
)
def test_what_an_instruction_is(line: str, operations: list[str]) -> None:
    assert names(line) == operations
