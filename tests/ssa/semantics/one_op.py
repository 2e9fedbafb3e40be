"""One op in one lane."""

from __future__ import annotations

from warpsmith.ssa.nodes import Detail, Instruction, Undefined, Value
from warpsmith.ssa.semantics.lane import lane
from warpsmith.ssa.types import Type

__all__ = ["compute"]


def compute(
    op: str, source: tuple[Type, ...], made: tuple[Type, ...], *operands: int, detail: Detail | None = None
) -> tuple[int, ...]:
    """Return the results of an op with operands of these types."""
    return lane(Instruction(op, tuple(map(Undefined, source)), tuple(map(Value, made)), detail), operands)
