"""Blocks that do nothing."""

from __future__ import annotations

from tests.targets.mask.random_kernels import exported_case
from warpsmith.simt.interpreter import interpret
from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import Branch, Function, Jump, Module, Param, Return
from warpsmith.ssa.types import I1, I32
from warpsmith.ssa.verify import faults
from warpsmith.targets.il.writing.empty import without_empty


def _diamond(*, phi: bool) -> Function:
    """Return a branch around a block that does nothing, to a join that may have a phi."""
    b = Builder("start")
    test = b.emit("param", (), I1, Param("n"))
    b.write("x", constant(I32, 1))
    b.end(Branch(test, "then", "join"))
    b.start("then")
    b.write("x", constant(I32, 2))
    b.end(Jump("join"))
    b.start("join")
    if phi:
        b.emit("neg", (b.read("x", I32),), I32)
    b.end(Return())
    return Function("k", True, (), (), b.finish())


def test_a_block_that_does_nothing_is_left_out() -> None:
    assert [block.name for block in without_empty(_diamond(phi=False)).blocks] == ["start", "join"]


def test_a_block_that_tells_a_phi_where_control_came_from_stays() -> None:
    assert [block.name for block in without_empty(_diamond(phi=True)).blocks] == ["start", "then", "join"]


def test_random_kernels_do_the_same_without() -> None:
    fewer = 0
    for seed in range(12):
        case = exported_case(seed)
        function = case.module.functions[0]
        made = without_empty(function)
        assert not faults(made)
        fewer += len(made.blocks) < len(function.blocks)
        left = []
        for one in (function, made):
            memory, launch = case.placed(checks=False)
            assert interpret(Module((one,)), case.name, launch, memory).complete
            left.append([bytes(buffer.data) for buffer in memory.buffers])
        assert left[0] == left[1]
    assert fewer
