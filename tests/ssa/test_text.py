"""The kernel IR as text."""

from __future__ import annotations

from tests.ssa.test_verify import GOOD
from warpsmith.ssa.nodes import (
    BasicBlock,
    Branch,
    Constant,
    Exit,
    Function,
    Instruction,
    Limits,
    Return,
    Switch,
    Symbol,
    Value,
)
from warpsmith.ssa.reader import parse_module
from warpsmith.ssa.text import print_function, print_module
from warpsmith.ssa.types import F32, I1, I32
from warpsmith.ssa.verify import faults


def test_every_kind_of_line_is_read_and_printed_again() -> None:
    module = parse_module(GOOD)
    assert print_module(module).split() == GOOD.split()
    assert [faults(function) for function in module.functions] == [(), ()]


def test_values_with_one_name_get_numbers() -> None:
    x, y, z = Value(I32, "x"), Value(I32, "x"), Value(I32)
    code = tuple(
        Instruction("add", (Constant(I32, 1), one), (two,)) for one, two in ((Constant(I32, 2), x), (x, y), (y, z))
    )
    function = Function("f", False, (), (I32,), (BasicBlock("a", (), code, Return((Value(I32),))),))
    assert print_function(function).splitlines() == [
        "function @f() -> i32", "a:", "  %x:i32 = add 1:i32 2:i32", "  %x.1:i32 = add 1:i32 %x",
        "  %v.1:i32 = add 1:i32 %x.1", "  return %?", "end",
    ]  # fmt: skip
    assert parse_module(print_function(function).replace("%?", "%x")).function("f") is not None


def test_flags_that_say_nothing_are_left_out() -> None:
    p = Constant(I1, 1)
    blocks = (
        BasicBlock("a", (), (), Branch(p, "b", "c", True, True, construct="for")),
        BasicBlock("b", (), (), Switch(p, ((3, "c"),), "a", True)),
        BasicBlock("c", (), (), Exit(fails=True)),
    )
    symbols = (Symbol("t", "constant", F32, 2, 4, (0, 255)),)
    function = Function("f", True, (), (), blocks, symbols, Limits(None, (1, 2, 3), None))
    assert print_function(function).splitlines() == [
        "kernel @f() [exact 1 2 3]", "  constant @t f32 x 2 align 4 = 0x0 0xff", "a:",
        "  branch uniform predicated for 1:i1 b c", "b:", "  switch uniform 1:i1 3 c a", "c:", "  trap", "end",
    ]  # fmt: skip
