"""The warps of a launch that are counted and shown, where not all are: all run, and compute the same."""

from __future__ import annotations

from msgspec import Struct

from warpsmith.simt.observer import Lane, Observer
from warpsmith.ssa.nodes import BasicBlock, Instruction, Space

__all__ = ["Selected", "Selection"]


class Selection(Struct, frozen=True):
    """Linear numbers of `blocks` of the grid, and of `warps` in each of them; None: all."""

    blocks: tuple[int, ...] | None = None
    warps: tuple[int, ...] | None = None

    @property
    def whole(self) -> bool:
        """Whether it is all warps."""
        return self.blocks is None and self.warps is None

    def has(self, block: int, warp: int) -> bool:
        """Return whether a warp is counted."""
        return (self.blocks is None or block in self.blocks) and (self.warps is None or warp in self.warps)


class Selected(Struct, frozen=True):
    """Tells an observer what lanes of the warps do that are counted, and nothing of the others."""

    selection: Selection
    observer: Observer

    def enter(self, lane: Lane, block: BasicBlock, moment: object, start: int) -> None:
        """Tell that a lane comes to a block."""
        if self.selection.has(lane.block, lane.warp):
            self.observer.enter(lane, block, moment, start)

    def value(self, lane: Lane, place: Instruction, moment: object, numbers: tuple[int, ...]) -> None:
        """Tell what a lane has computed."""
        if self.selection.has(lane.block, lane.warp):
            self.observer.value(lane, place, moment, numbers)

    def branch(self, lane: Lane, block: BasicBlock, moment: object, taken: str) -> None:
        """Tell where a lane goes."""
        if self.selection.has(lane.block, lane.warp):
            self.observer.branch(lane, block, moment, taken)

    def access(self, lane: Lane, place: Instruction, moment: object, where: tuple[Space, int, int]) -> None:
        """Tell what memory a lane touches."""
        if self.selection.has(lane.block, lane.warp):
            self.observer.access(lane, place, moment, where)
