"""The semantics of the pure ops in one lane, on bit patterns: the meaning that every engine must agree with.

    lane(instruction, (bits, bits, …)) → (bits, …)        operands and results as numbers, 0 ≤ bits < 2**type.bits
    lanes(instruction, (column, column, …)) → column      the same for many lanes at once, one column an operand

Integers wrap. Shifts beyond the width shift everything out. Division by zero gives all ones, a remainder by zero its
dividend, as GPUs do (PTX leaves both open). Floating point rounds to nearest even unless the detail says otherwise;
transcendental functions are the C library's, rounded: hardware may differ in the last bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from warpsmith.ssa.nodes import Instruction
from warpsmith.ssa.semantics.comparisons import COMPARISONS
from warpsmith.ssa.semantics.conversions import CONVERSIONS
from warpsmith.ssa.semantics.floats import FLOATS
from warpsmith.ssa.semantics.integers import INTEGERS, PAIRS, Lane, Whole

__all__ = ["lane", "lanes"]

_TABLE: Final[dict[str, Lane]] = {**INTEGERS, **FLOATS, **COMPARISONS, **CONVERSIONS}


def lane(instruction: Instruction, operands: tuple[int, ...]) -> tuple[int, ...]:
    """Return the results of a pure op in one lane; raises KeyError for an op that computes no value by itself."""
    if instruction.op in PAIRS:
        return PAIRS[instruction.op](instruction, operands)
    bits = _TABLE[instruction.op](instruction, operands)
    return (bits & ((1 << instruction.results[0].type.bits) - 1),)


def lanes(instruction: Instruction, columns: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return the one result of a pure op in many lanes; raises KeyError for an op that computes no such value."""
    compute = _TABLE[instruction.op]
    mask = (1 << instruction.results[0].type.bits) - 1
    if isinstance(compute, Whole):
        return tuple([bits & mask for bits in compute.column(instruction, columns)])
    return tuple([compute(instruction, numbers) & mask for numbers in zip(*columns, strict=True)])
