"""Instructions at which a lane waits for others; and those that only tell analyses something."""

from __future__ import annotations

from typing import Final

from warpsmith.ssa.nodes import ASYNCHRONOUS, GRID_BARRIER, Instruction, Text

__all__ = ["TOGETHER", "is_grid_barrier", "says_nothing", "waits_for_others"]

TOGETHER: Final = frozenset({"barrier", "warp_barrier", "vote", "shuffle", "match", "reduce", "active"})
"""Ops for which a lane waits for others of its block."""


def is_grid_barrier(instruction: Instruction) -> bool:
    """Whether an instruction waits for all threads of the grid."""
    return _says(instruction, GRID_BARRIER)


def says_nothing(instruction: Instruction) -> bool:
    """Whether an instruction tells analyses something, and does nothing."""
    return _says(instruction, ASYNCHRONOUS)


def waits_for_others(instruction: Instruction) -> bool:
    """Whether a lane waits for others at an instruction."""
    return instruction.op in TOGETHER or is_grid_barrier(instruction)


def _says(instruction: Instruction, text: str) -> bool:
    detail = instruction.detail
    return instruction.op == "unmodeled" and isinstance(detail, Text) and detail.text == text
