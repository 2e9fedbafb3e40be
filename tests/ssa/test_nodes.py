"""The successors of blocks, and the values that ends of blocks read."""

from __future__ import annotations

import pytest

from warpsmith.ssa.nodes import (
    BasicBlock,
    Branch,
    Constant,
    Exit,
    Function,
    Instruction,
    Jump,
    Module,
    Return,
    Switch,
    Symbol,
    Unreachable,
    Value,
    successors,
    terminator_operands,
)
from warpsmith.ssa.types import F64, I1, I32

P, N = Value(I1, "p"), Constant(I32, 3)


@pytest.mark.parametrize(
    ("end", "after", "read"),
    [
        (Jump("a"), ("a",), ()),
        (Branch(P, "a", "b"), ("a", "b"), (P,)),
        (Branch(P, "a", "a"), ("a",), (P,)),
        (Switch(N, ((1, "a"), (2, "b"), (3, "a")), "c"), ("a", "b", "c"), (N,)),
        (Switch(N, ((1, "c"),), "c"), ("c",), (N,)),
        (Return((N,)), (), (N,)),
        (Exit(), (), ()),
        (Unreachable(), (), ()),
    ],
)
def test_ends_of_blocks(end: Jump, after: tuple[str, ...], read: tuple[object, ...]) -> None:
    assert successors(end) == after and terminator_operands(end) == read


def test_instructions_come_in_order_with_their_blocks() -> None:
    one, two = (Instruction("add", (N, N), (Value(I32),)) for _ in range(2))
    blocks = (BasicBlock("a", (), (one,), Jump("b")), BasicBlock("b", (), (two,), Return()))
    function = Function("f", False, (), (), blocks)
    assert list(function.instructions()) == [(blocks[0], one), (blocks[1], two)]
    assert one.result is one.results[0] and one.result != two.result
    module = Module((function,))
    assert module.function("f") is function and module.function("g") is None
    assert Symbol("t", "shared", F64, 5, 8).bytes == 40
    with pytest.raises(ValueError, match="unpack"):
        _ = Instruction("load", (), (Value(I32), Value(I32))).result
