"""Blocks that wait for each other: `run(state, first, last)` lets blocks `first` to before `last` go on while they can.

    for each block: its row of words becomes the record's (words.py: ROOM)
        rounds of its warps, as in driver.py, until it ends, or all that have not ended stand at a barrier of the grid
        what has changed goes back to the row, with the number of that barrier, 0 where the block has ended

Each block has frames, shared and local memory of its own that stay as they are while others run, so to go from one to
the next is to change some addresses. Whether a barrier of the grid opens is said outside (simt/engine/resident.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from warpsmith.simt.engine.drivers.driver import Driver
from warpsmith.simt.engine.lanes import I1, I64, Emit, Ir
from warpsmith.simt.engine.words import ROOM, LaunchWords

__all__ = ["ResidentDriver", "resident_driver"]


def resident_driver(e: Emit, warp: Ir, stop: Ir, behind: Sequence[int], grid: Sequence[int]) -> Ir:
    """Return the driver for a warp function, as driver_function has it; `grid`: the numbers of the barriers that are of
    the grid."""
    return ResidentDriver(e, warp, stop, behind, grid).function


class ResidentDriver(Driver):
    """The driver while it is written."""

    def __init__(self, e: Emit, warp: Ir, stop: Ir, behind: Sequence[int], grid: Sequence[int]) -> None:
        self.grid = grid
        super().__init__(e, warp, stop, behind, framed=True)

    def block(self, number: Ir) -> None:
        """Write the turn of one block."""
        e = self.e
        self.index(number)
        start = e.b.mul(number, I64(len(ROOM) + 1))
        room = e.b.gep(self.table(LaunchWords.ROOMS), [start], source_etype=I64)
        for at, word in enumerate(ROOM):
            e.write(self.state, word, e.read(room, at))
        self.rounds()
        for word in (LaunchWords.EPOCH, LaunchWords.PASSED):
            e.write(room, ROOM.index(word), e.read(self.state, word))
        e.write(room, len(ROOM), self.waits())

    def open(self, over: Ir) -> None:
        """Write: where the barrier does not open yet, the block has had its turn."""
        e, opens = self.e, self.e.block("opens")
        e.b.cbranch(self.stays(), over, opens)
        e.at(opens)

    def stays(self) -> Ir:
        """Return whether the block has had its turn: all wait at a barrier of the grid."""
        b, where, found = self.e.b, self.e.b.load(self.where, typ=I64), I1(0)
        for number in self.grid:
            found = b.or_(found, b.icmp_unsigned("==", where, I64(number)))
        return found

    def waits(self) -> Ir:
        """Return the number of the barrier at which the block waits, 0 where it has ended."""
        return self.e.b.load(self.where, typ=I64)
