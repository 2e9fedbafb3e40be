"""The kernel IR as text."""

from __future__ import annotations

import itertools
import random
import re

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


def test_a_name_is_the_first_that_nobody_has() -> None:
    for seed in range(60):
        source = random.Random(seed)
        stems = [
            source.choice(("", "v", "v.1", "v.2", "x", "x.1", "x.1.1", "x.2")) for _ in range(source.randrange(40))
        ]
        code = tuple(Instruction("add", (Constant(I32, 1), Constant(I32, 2)), (Value(I32, stem),)) for stem in stems)
        function = Function("f", False, (), (I32,), (BasicBlock("a", (), code, Return((Constant(I32, 0),))),))
        found = re.findall(r"%(\S+):i32 = add", print_function(function))
        taken: list[str] = []
        for stem in stems:
            own = [stem] if stem else []
            numbered = (f"{stem or 'v'}.{number}" for number in itertools.count(1))
            taken.append(next(name for name in itertools.chain(own, numbered) if name not in taken))
        assert found == taken


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
