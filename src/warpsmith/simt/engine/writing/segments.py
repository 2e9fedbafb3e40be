"""Parts of blocks that lanes go through without a stop: a block ends one, and so does where its lanes wait for others.

    a block   c = a + b   barrier │ d = shared[c]   store d   branch
              segment 0: 0 to 1   │ segment 1: 2 to 4

What is counted is counted by segment: lanes that come to a barrier one after the other go on behind it together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from warpsmith.simt.meeting.waiting import is_grid_barrier
from warpsmith.ssa.nodes import BasicBlock, Exchange, Instruction

__all__ = ["Segment", "split_blocks", "waits_for_block", "waits_for_others"]


class Segment(Struct, frozen=True, eq=False):
    """Instructions of a block from number `start` to before `stop`; its terminator is number len(instructions)."""

    block: BasicBlock
    start: int
    stop: int

    @property
    def count(self) -> int:
        """How many instructions it has."""
        return self.stop - self.start


def split_blocks(blocks: Iterable[BasicBlock], waits: Callable[[Instruction], bool]) -> tuple[Segment, ...]:
    """Return the segments of blocks, in order: one ends with each instruction that waits."""
    found: list[Segment] = []
    for block in blocks:
        start = 0
        for number, instruction in enumerate(block.instructions, 1):
            if waits(instruction):
                found.append(Segment(block, start, number))
                start = number
        found.append(Segment(block, start, len(block.instructions) + 1))
    return tuple(found)


def waits_for_block(i: Instruction) -> bool:
    """Whether an instruction is a barrier of the block, or of the grid."""
    return i.op == "barrier" or is_grid_barrier(i)


def waits_for_others(i: Instruction) -> bool:
    """Whether lanes wait at an instruction for those that it names."""
    return i.op in ("barrier", "warp_barrier") or (isinstance(i.detail, Exchange) and i.detail.masked)
