"""Blocks that a kernel could be launched with instead: the same threads of a grid, divided otherwise.

    thread numbers x = ctaid.x · ntid.x + tid.x alone     any block that covers the same numbers does the same
    shared memory, barriers, tid.x or ntid.x by itself    the kernel is written for its block: nothing is said

Invariant: a kernel is given other blocks only if it reads the numbers of threads and blocks in this sum alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from warpsmith.analysis.uniformity.facts import Dim
from warpsmith.ssa.nodes import Barrier, Function, Instruction, Memory, Operand, Query, Value

__all__ = ["covering", "other_blocks", "why_bound_to_block"]

_LEAST: Final = 32
_MOST: Final = 1024
_DEEPEST: Final = 64
"""The most threads along z (CUDA C++ Programming Guide, technical specifications)."""


def why_bound_to_block(function: Function) -> str:
    """Return why a kernel may mean something else in another block; "" where it does not."""
    if function.limits.exact_block is not None:
        return "it promises its block"
    made = {v: i for _, i in function.instructions() for v in i.results}
    summed: set[Instruction] = set()
    for _, i in function.instructions():
        if isinstance(i.detail, Barrier) or i.op in ("vote", "shuffle", "match", "reduce", "active"):
            return "its threads work together"
        if isinstance(i.detail, Memory) and i.detail.space == "shared":
            return "it uses shared memory"
        if i.op == "add":
            summed |= _of_number(i, made)
    for _, i in function.instructions():
        for operand in i.operands:
            asked = made.get(operand) if isinstance(operand, Value) else None
            if asked is not None and isinstance(asked.detail, Query) and i not in summed:
                if asked.detail.register.partition(".")[0] in ("nctaid",):
                    return "it reads the size of its grid"
                return f"it uses {asked.detail.register} by itself"
    return ""


def _of_number(i: Instruction, made: Mapping[Value, Instruction]) -> set[Instruction]:
    """Return the instructions of a sum that is the number of a thread in the grid; empty where it is not."""
    for one, other in (i.operands, i.operands[::-1]):
        product, thread = _made(one, made), _register(other, made)
        if product is None or product.op != "mul" or not thread.startswith("tid."):
            continue
        axis = thread.removeprefix("tid.")
        if {_register(o, made) for o in product.operands} == {f"ctaid.{axis}", f"ntid.{axis}"}:
            return {i, product}
    return set()


def _made(operand: Operand, made: Mapping[Value, Instruction]) -> Instruction | None:
    return made.get(operand) if isinstance(operand, Value) else None


def _register(operand: Operand, made: Mapping[Value, Instruction]) -> str:
    i = _made(operand, made)
    return i.detail.register if i is not None and isinstance(i.detail, Query) else ""


def other_blocks(block: Dim, grid: Dim, most: int = _MOST) -> tuple[Dim, ...]:
    """Return the power-of-two blocks of 32 to `most` threads that use the axes that a launch uses."""
    used = [block[at] * grid[at] > 1 for at in range(3)]
    return tuple(
        (x, y, z)
        for z in _powers(_DEEPEST, used=used[2])
        for y in _powers(_MOST, used=used[1])
        for x in _powers(_MOST, used=used[0])
        if _LEAST <= x * y * z <= most
    )


def _powers(most: int, *, used: bool) -> Iterator[int]:
    number = 1
    while number <= (most if used else 1):
        yield number
        number *= 2


def covering(threads: Sequence[int], block: Dim) -> Dim:
    """Return the grid of blocks that covers so many threads along each axis."""
    x, y, z = (-(-wanted // size) for wanted, size in zip(threads, block, strict=True))
    return x, y, z
