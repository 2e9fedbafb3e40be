"""A kernel becomes a function that runs one warp as a policy says: a loop that picks lanes, and the code of each block.

    again: pick lanes that stand at one place ─► switch place ─► block 0 | block 1 | …
           each computes under its mask, tells where its lanes go, and comes back to `again`

Where lanes stand and who goes on is the scheduler's: stack.py and per_lane.py. Values live in the frame of the warp,
and are written under the mask: lanes may be anywhere when others write. What is counted is counted by segment, so that
lanes which come to a barrier one after the other, and go on together, are counted as what they do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from warpsmith.simt.engine.access import Runtime
from warpsmith.simt.engine.instructions import Ops
from warpsmith.simt.engine.lanes import I64, Ir
from warpsmith.simt.engine.observers.checks import Turns
from warpsmith.simt.engine.words import Stop
from warpsmith.simt.engine.writing.blocks import BlockWriter, Ways
from warpsmith.simt.engine.writing.per_lane import LaneScheduler
from warpsmith.simt.engine.writing.segments import split_blocks, waits_for_block, waits_for_others
from warpsmith.simt.engine.writing.stack import StackScheduler
from warpsmith.simt.engine.writing.turns import Scheduled, Scheduler
from warpsmith.ssa.nodes import BasicBlock, Function, Instruction

__all__ = ["ScheduledWriter"]

_MAKE: Final[Mapping[Turns, Callable[[Scheduled], Scheduler]]] = {
    "text": lambda writer: StackScheduler(writer, "text"),
    "true": lambda writer: StackScheduler(writer, "true"),
    "smaller": lambda writer: StackScheduler(writer, "smaller"),
    "per-lane": LaneScheduler,
}


class ScheduledWriter(BlockWriter):
    """Writes a kernel of any control flow, an order of turns at a time."""

    def __init__(self, runtime: Runtime, function: Function, tables: Ops) -> None:
        turns = runtime.checks.turns
        self.waits = waits_for_others if turns == "per-lane" else waits_for_block
        split = frozenset(b.name for b in function.blocks if any(map(self.waits, b.instructions)))
        super().__init__(runtime, function, tables, split, framed=True)
        self.segments = split_blocks((self.blocks[name] for name in self.graph.order), self.waits)
        self.first: Mapping[str, int] = {
            segment.block.name: n for n, segment in enumerate(self.segments) if segment.start == 0
        }
        e = self.e
        self.current: Ir = e.slot(e.mask_type)
        self.again, self.done = e.block("pick"), e.block("done")
        self.heads: Mapping[str, Ir] = {name: e.block(f"block.{name}") for name in self.graph.order}
        self.scheduler = _MAKE[turns](self)

    def write(self) -> None:
        """Write the whole function."""
        self.begin(self.write_body)

    def write_body(self) -> None:
        """Write the loop that picks, and all blocks."""
        e = self.e
        self.scheduler.start()
        e.b.branch(self.again)
        e.at(self.again)
        self.scheduler.pick()
        for name, head in self.heads.items():
            e.at(head)
            self.write_block(self.blocks[name])
        self.scheduler.finish()
        e.at(self.done)
        e.b.ret(I64(0))

    def write_block(self, block: BasicBlock) -> None:
        """Write a block, segment by segment."""
        self.block, self.cache = block, {}
        self.mask = self.e.b.load(self.current, typ=self.e.mask_type)
        for number, segment in enumerate(self.segments):
            if segment.block is block:
                self.segment = number
                self.spend(self.mask, segment.count)
                self.count_visit(segment.count)
                self.compute(block.instructions[segment.start : segment.stop])
        self.end(block)

    def jump(self, place: Ir, mask: Ir) -> None:
        """Write: the lanes of a mask go on at the segment number `place`, the first of its block."""
        self.e.b.store(mask, self.current)
        choice = self.e.b.switch(place, self.done)
        for name, head in self.heads.items():
            choice.add_case(I64(self.first[name]), head)

    def meet(self, instruction: Instruction) -> None:
        """Write: where others may still be on their way, lanes wait for them."""
        if self.waits(instruction):
            self.scheduler.meet(instruction)

    def resume(self) -> None:
        """Write: all lanes that have not ended are here, where some waited."""
        self.mask, self.cache = self.live(), {}

    def refuse(self) -> None:
        """Write: lanes wait for ever, which is the interpreter's to tell."""
        self.stop(Stop.BARRIER)

    def go(self, ways: Ways) -> None:
        """Write: lanes leave the block for others."""
        for target, mask in ways.items():
            self.write_phis(target, mask)
        self.scheduler.go(ways)

    def gone(self) -> None:
        """Write: the lanes of the mask have ended."""
        self.scheduler.gone()
