"""Ops that round to zero, up or down: the processor's modes against exact arithmetic."""

from __future__ import annotations

import pytest

from tests.simt.engine.test_instructions import Shape, check
from warpsmith.simt.engine.ops.directed import DIRECTED
from warpsmith.ssa.nodes import Convert, Float
from warpsmith.ssa.types import F32, F64, I64

TRIED: tuple[Shape, ...] = (
    ("fsub", (F64, F64), (F64,), Float("down")),
    ("sqrt", (F32,), (F32,), Float("up")),
    ("uitof", (I64,), (F32,), Convert("zero")),
)


@pytest.mark.parametrize("shape", TRIED, ids=lambda shape: shape[0])
def test_an_op_rounds_as_the_interpreter_does(shape: Shape) -> None:
    assert shape[0] in DIRECTED
    check(shape, 0)
