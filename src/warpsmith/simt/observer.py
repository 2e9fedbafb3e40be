"""Who watches a run. The interpreter only executes; what is counted, drawn or compared is an observer's business.

`moment` is the dynamic instance: which iteration of every loop around the instruction the lane is in, and through which
calls it came. Lanes of a warp at one instruction and one moment would execute it together if they reconverged as early
as they can; a value is uniform if it is the same in all of them.
"""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from warpsmith.ssa.nodes import BasicBlock, Instruction, Space

__all__ = ["Lane", "Observer", "Silent"]


class Lane(Struct, frozen=True):
    """One thread: linear numbers of its block and of itself in it, of its warp in the block and of its lane there."""

    block: int
    thread: int
    warp: int
    lane: int
    index: tuple[int, int, int]
    block_index: tuple[int, int, int]


class Observer(Protocol):
    """All that may be watched; every method is called before the effect is visible to other lanes. A branch is reported
    when the lane leaves the block, which it entered before."""

    def enter(self, lane: Lane, block: BasicBlock, moment: object, start: int) -> None:
        """Lane `lane` comes to instruction `start` of `block`: 0, or the one behind a call that has returned. It goes
        on to the next call of the block, else to its end, unless the run is stopped."""
        ...

    def value(self, lane: Lane, place: Instruction, moment: object, numbers: tuple[int, ...]) -> None:
        """Lane `lane` has computed the results of `place`."""
        ...

    def branch(self, lane: Lane, block: BasicBlock, moment: object, taken: str) -> None:
        """Lane `lane` leaves `block` for the block `taken`."""
        ...

    def access(self, lane: Lane, place: Instruction, moment: object, where: tuple[Space, int, int]) -> None:
        """Lane `lane` touches memory: (space, address in its space, bytes)."""
        ...


class Silent:
    """Watches nothing; a base for observers that need one method."""

    def enter(self, lane: Lane, block: BasicBlock, moment: object, start: int) -> None:
        """Ignore it."""

    def value(self, lane: Lane, place: Instruction, moment: object, numbers: tuple[int, ...]) -> None:
        """Ignore it."""

    def branch(self, lane: Lane, block: BasicBlock, moment: object, taken: str) -> None:
        """Ignore it."""

    def access(self, lane: Lane, place: Instruction, moment: object, where: tuple[Space, int, int]) -> None:
        """Ignore it."""
