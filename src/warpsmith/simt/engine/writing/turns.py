"""Between who writes the blocks of a kernel (scheduled.py) and who says which lanes go on (stack.py, per_lane.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from warpsmith.simt.engine.lanes import Emit, Ir
from warpsmith.simt.engine.values import SlotMaker
from warpsmith.simt.engine.writing.blocks import Ways
from warpsmith.simt.engine.writing.segments import Segment
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import BasicBlock, Instruction

__all__ = ["Scheduled", "Scheduler"]


class Scheduled(Protocol):
    """A kernel that is being written: at `again` lanes are picked, at `done` the warp has ended; `heads`: where the
    code of each block is, `first` the number of its first segment. `block` is the one that is being written, `mask`
    its lanes, `current` where they are kept on the way there; `state` the record of the launch."""

    e: Emit
    graph: Graph
    frame: SlotMaker
    state: Ir
    everyone: Ir
    mask: Ir
    block: BasicBlock
    current: Ir
    again: Ir
    done: Ir
    heads: Mapping[str, Ir]
    first: Mapping[str, int]
    segments: tuple[Segment, ...]

    def live(self) -> Ir:
        """Return the lanes that have not ended."""
        ...

    def jump(self, place: Ir, mask: Ir) -> None:
        """Write: the lanes of a mask go on at the segment number `place`, the first of its block."""
        ...

    def refuse(self) -> None:
        """Write: lanes wait for ever, which is the interpreter's to tell."""
        ...

    def resume(self) -> None:
        """Write: all lanes that have not ended are here, where some waited."""
        ...


class Scheduler(Protocol):
    """Writes where lanes stand, and who goes on. All but `start` and `finish` end the code of what comes before."""

    def start(self) -> None:
        """Write: all lanes stand at the first block."""
        ...

    def pick(self) -> None:
        """Write: go to the lanes that come next."""
        ...

    def go(self, ways: Ways) -> None:
        """Write: the lanes of the mask go on, perhaps to different blocks."""
        ...

    def gone(self) -> None:
        """Write: the lanes of the mask have ended."""
        ...

    def meet(self, instruction: Instruction) -> None:
        """Write: lanes wait at an instruction until all are there that have not ended; then they go on behind this."""
        ...

    def finish(self) -> None:
        """Write what is left when all blocks are written."""
        ...
