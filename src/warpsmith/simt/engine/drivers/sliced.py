"""Warps that may wait for others in loops: each has its turn for a while, then others do.

    status of a warp   0 it has ended   1 it can go on   n + 1 it waits at barrier number n
    round              warps that can go on do so until they end, wait, or give way (SLICE)
    then               where one gave way the block has had its turn; else the barrier opens at which all wait

A block that gave way comes back as that (GIVES_WAY), and has its next turn when all others have had theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from warpsmith.simt.engine.drivers.resident import ResidentDriver
from warpsmith.simt.engine.lanes import I64, Emit, Ir
from warpsmith.simt.engine.words import GIVES_WAY, LaunchWords

__all__ = ["SLICE", "sliced_driver"]

SLICE: Final = 32
"""How often a warp begins loops again that may wait for others, in one turn."""


def sliced_driver(e: Emit, warp: Ir, stop: Ir, behind: Sequence[int], grid: Sequence[int]) -> Ir:
    """Return the driver for a warp function, as resident_driver has it, whose warps give way."""
    return _Sliced(e, warp, stop, behind, grid).function


class _Sliced(ResidentDriver):
    """The driver while it is written."""

    def __init__(self, e: Emit, warp: Ir, stop: Ir, behind: Sequence[int], grid: Sequence[int]) -> None:
        self.gave_way: Ir = None
        super().__init__(e, warp, stop, behind, grid)

    def begin_round(self) -> None:
        """Write: nobody waits yet, or has given way."""
        super().begin_round()
        if self.gave_way is None:
            self.gave_way = self.e.slot(I64)
        self.e.b.store(I64(0), self.gave_way)

    def status(self, number: Ir) -> Ir:
        """Return the address of a warp's status."""
        return self.e.b.gep(self.table(LaunchWords.STATUS), [number], source_etype=I64)

    def turn(self, number: Ir) -> None:
        """Write: a warp that can goes on; where it waits, it does so where the others do."""
        e = self.e
        status = self.status(number)
        with e.b.if_then(e.b.icmp_unsigned("==", e.b.load(status, typ=I64), I64(1))):
            e.write(self.state, LaunchWords.SLICE, I64(SLICE))
            found = self.call_warp(number)
            gives_way = e.b.icmp_unsigned("==", found, I64(GIVES_WAY))
            waits = e.b.select(e.b.icmp_unsigned("==", found, I64(0)), I64(0), e.b.add(found, I64(1)))
            e.b.store(e.b.select(gives_way, I64(1), waits), status)
            e.b.store(e.b.or_(e.b.load(self.gave_way, typ=I64), e.b.zext(gives_way, I64)), self.gave_way)
        now = e.b.load(status, typ=I64)
        self.wait(e.b.select(e.b.icmp_unsigned(">", now, I64(1)), e.b.sub(now, I64(1)), I64(0)))

    def stays(self) -> Ir:
        """Return whether the block has had its turn: a warp gave way, or all wait at a barrier of the grid."""
        gave_way = self.e.b.icmp_unsigned("!=", self.e.b.load(self.gave_way, typ=I64), I64(0))
        return self.e.b.or_(gave_way, super().stays())

    def open(self, over: Ir) -> None:
        """Write: where the barrier opens, those that wait there can go on."""
        super().open(over)
        e = self.e

        def release(number: Ir) -> None:
            status = self.status(number)
            now = e.b.load(status, typ=I64)
            e.b.store(e.b.select(e.b.icmp_unsigned(">", now, I64(1)), I64(1), now), status)

        e.count_up(I64(0), e.read(self.state, LaunchWords.WARPS), release)

    def waits(self) -> Ir:
        """Return the number of the barrier at which the block waits, GIVES_WAY where it can go on."""
        e = self.e
        gave_way = e.b.icmp_unsigned("!=", e.b.load(self.gave_way, typ=I64), I64(0))
        return e.b.select(gave_way, I64(GIVES_WAY), super().waits())
