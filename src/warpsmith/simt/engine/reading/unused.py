"""Instructions that are not written: nobody reads what they compute.

    %5 = umulwide %i, 4     an access by index asks for the index %i and a place,
    %6 = add %a, %5         so nobody reads %6, and then nobody %5
    load %6

Most are addresses, which take vectors twice as long as their indices. They are counted as all others are. Imports
nothing of LLVM."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from warpsmith.ssa.nodes import Function, Instruction, Operand, Value, terminator_operands

__all__ = ["unused_instructions"]

_PLAIN: Final = frozenset(
    {"add", "sub", "mul", "shl", "and", "or", "xor", "smulwide", "umulwide", "sext", "zext", "trunc"}
    | {"param", "address", "to_generic"}
)
"""Ops that do nothing but give a result."""


def unused_instructions(
    function: Function, operands: Callable[[Instruction], Sequence[Operand]]
) -> frozenset[Instruction]:
    """Return the instructions whose results nobody reads, where each reads its `operands`."""
    made = {value: i for _, i in function.instructions() for value in i.results}
    readers = Counter(operand for operand in _list_read(function, operands) if isinstance(operand, Value))
    pending = [i for _, i in function.instructions() if i.op in _PLAIN and not any(readers[v] for v in i.results)]
    unused = set(pending)
    while pending:
        for operand in operands(pending.pop()):
            if not isinstance(operand, Value):
                continue
            readers[operand] -= 1
            source = made.get(operand)
            if source is not None and source.op in _PLAIN and not any(readers[v] for v in source.results):
                unused.add(source)
                pending.append(source)
    return frozenset(unused)


def _list_read(function: Function, operands: Callable[[Instruction], Sequence[Operand]]) -> Iterator[Operand]:
    """Yield all that is read, as often as it is."""
    for block in function.blocks:
        for phi in block.phis:
            yield from (operand for _, operand in phi.incoming)
        for instruction in block.instructions:
            yield from operands(instruction)
        yield from terminator_operands(block.terminator)
