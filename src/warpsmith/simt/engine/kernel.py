"""A kernel becomes a function that runs one warp: `warp(state, frame, counters, number, everyone) → where it waits`.

    for each block in order (linear.py):
        mask = pending[block]                     what came over the edges so far
        if mask is empty: next block              so lanes reconverge at once where ways meet
        count visit and lanes; compute; split mask at the branch, add the parts to pending of the targets
    a loop starts again while pending[header] has lanes

It returns 0 when all lanes have ended, else the number of the barrier at which they wait; called again, it goes on
there. Control goes back to the driver as well when State.LEAVE is set; then nothing more is done. Every loop looks.
"""

from __future__ import annotations

from collections.abc import Sequence

from warpsmith.simt.engine.access import Runtime
from warpsmith.simt.engine.instructions import Ops
from warpsmith.simt.engine.lanes import I64, Ir
from warpsmith.simt.engine.observers.charges import Charges
from warpsmith.simt.engine.reading.levels import Levels
from warpsmith.simt.engine.reading.linear import Item, NaturalLoop, linear, loops
from warpsmith.simt.engine.reading.spinning import spinning_loops
from warpsmith.simt.engine.words import GIVES_WAY, LaunchWords
from warpsmith.simt.engine.writing.blocks import COUNTERS, BlockWriter, Ways
from warpsmith.simt.engine.writing.segments import split_blocks, waits_for_block
from warpsmith.ssa.nodes import BasicBlock, Branch, Function, Instruction, Value

__all__ = ["COUNTERS", "KernelWriter"]


class KernelWriter(BlockWriter):
    """Writes a kernel whose loops have one entry each, a segment for each block."""

    def __init__(self, runtime: Runtime, function: Function, tables: Ops) -> None:
        split = frozenset(b.name for b in function.blocks if any(map(waits_for_block, b.instructions)))
        self.spinning = spinning_loops(function) if runtime.checks.sliced else {}
        super().__init__(runtime, function, tables, split, framed=bool(split) or runtime.checks.sliced)
        self.segments = split_blocks(function.blocks, lambda _: False)
        self.reached: set[str] = set()
        items = () if self.graph.irreducible else linear(self.graph)
        self.last = {loop.header: _last(loop) for loop in loops(items)}
        levels = Levels.find(self.graph) if runtime.checks.lost and not self.lockstep else None
        self.charges: Charges | None = None
        if levels is not None:
            self.charges = Charges(self.e, self.state, self.frame, levels, self.numbers)
            self.part = self.charge = None

    def write(self) -> None:
        """Write the whole function."""
        self.begin(self.write_body)

    def write_body(self) -> None:
        """Write all blocks in order."""
        e = self.e
        for name in self.graph.order:
            self.frame.store(("pending", name), e.mask(0))
        self.frame.store(("pending", self.graph.entry), self.everyone)
        if self.charges is not None:
            self.charges.start()
        if self.lockstep:
            self.frame.store("sets", I64(1))
        self.items(linear(self.graph))
        e.b.ret(I64(0))

    # --- blocks in order

    def items(self, items: Sequence[Item]) -> None:
        """Write blocks and loops, one behind the other."""
        for item in items:
            if isinstance(item, NaturalLoop):
                self.loop(item)
            else:
                self.visit(item)

    def visit(self, name: str) -> None:
        """Write a block: it is left out where no lane has come."""
        e = self.e
        inside, after = e.block(f"in.{name}"), e.block(f"after.{name}")
        mask = self.pending(name)
        e.b.cbranch(e.any(mask), inside, after)
        e.at(inside)
        self.compute_block(self.blocks[name], mask)
        e.b.branch(after)
        e.at(after)
        if self.charges is not None:
            self.charges.pass_block(name)

    def loop(self, loop: NaturalLoop) -> None:
        """Write a loop: again while a lane came back to its header."""
        e = self.e
        top, after = e.block(f"top.{loop.header}"), e.block(f"out.{loop.header}")
        if self.part is not None:
            self.frame.store(("since", loop.header), self.log_length())
        if self.charges is not None:
            self.charges.enter_loop(loop.header)
        e.b.cbranch(e.any(self.pending(loop.header)), top, after)
        e.at(top)
        mask = self.pending(loop.header)
        self.block = self.blocks[loop.header]
        if loop.header in self.spinning:
            self.give_way(top, mask)
        self.spend(mask, len(self.block.instructions) + 1)
        self.compute_block(self.blocks[loop.header], mask)
        self.items(loop.items[1:])
        e.b.cbranch(e.any(self.pending(loop.header)), top, after)
        e.at(after)

    def give_way(self, top: Ir, mask: Ir) -> None:
        """Write: the warp gives way where it began such loops often enough; called again, it goes on at `top`."""
        e = self.e
        go, away, again = (e.block(name) for name in ("go", "away", "again"))
        left = e.b.sub(e.read(self.state, LaunchWords.SLICE), I64(1))
        e.write(self.state, LaunchWords.SLICE, left)
        e.b.cbranch(e.b.icmp_signed("<", left, I64(0)), away, go)
        e.at(away)
        self.settle(mask)
        self.resumed.append(again)
        e.write(self.base, 0, I64(len(self.resumed)))
        e.b.ret(I64(GIVES_WAY))
        e.at(again)
        e.b.branch(top)
        e.at(go)

    def pending(self, name: str) -> Ir:
        """Return the lanes that wait to enter a block."""
        return self.frame.load(("pending", name), self.e.mask_type)

    def log_length(self) -> Ir:
        """Return how many entries the log of lanes that diverged has."""
        return self.e.read(self.e.pointer(self.e.read(self.state, LaunchWords.LOG)), 0)

    def compute_block(self, block: BasicBlock, mask: Ir) -> None:
        """Write what a block does with the lanes of a mask."""
        self.block, self.mask, self.cache = block, mask, {}
        self.segment = self.numbers[block.name]
        self.frame.store(("pending", block.name), self.e.mask(0))
        self.add_sets(I64(-1))
        self.count_visit(len(block.instructions) + 1)
        if self.charges is not None:
            self.charges.execute(block.name, len(block.instructions) + 1)
        self.compute(block.instructions)
        self.end(block)

    # --- ends of blocks

    def go(self, ways: Ways) -> None:
        """Write the ways of lanes to other blocks, where they wait for their turn."""
        for target, mask in ways.items():
            if self.charges is not None:
                self.charges.enter_arm(self.block.name, target, self.e.remove_lanes(self.mask, mask))
            self.edge(target, mask)
        self.note_sets()

    def edge(self, target: str, mask: Ir) -> None:
        """Write the way of some lanes to another block."""
        e = self.e
        self.leave_loops(target, mask)
        self.write_phis(target, mask, first=self.is_first(target))
        waiting = self.pending(target)
        if self.lockstep:
            first = e.b.and_(e.any(mask), e.b.icmp_unsigned("==", waiting, e.mask(0)))
            self.add_sets(e.b.zext(first, I64))
        self.frame.store(("pending", target), e.b.or_(waiting, mask))
        if target in self.graph.leaving and not self.lockstep:
            # it comes last in the order of the blocks, behind barriers that do not wait for who only has to end
            self.frame.store("live", e.remove_lanes(self.live(), mask))

    def leave_loops(self, target: str, mask: Ir) -> None:
        """Write: lanes that leave loops keep copies of what they had there and may read behind."""
        e, here = self.e, self.block.name
        left = {cycle.header for cycle in self.graph.cycles_around(here) if target not in cycle.blocks}
        values = [
            value
            for value, made in self.homes.copied.items()
            if self.graph.cycles_around(made)[-1].header in left and self.graph.dominates(made, here)
        ]
        given = [self.value(value) for value in values]
        if not left or not (values or self.charges):
            return
        with e.b.if_then(e.any(mask)):
            if self.charges is not None:
                self.charges.leave_loop(here, mask)
            for value, own in zip(values, given, strict=True):
                old = self.frame.load(("copy", value), own.type)
                self.frame.store(("copy", value), e.b.select(e.unpack_mask(mask), own, old))

    def home(self, value: Value) -> object:
        """Return the key of the slot that the block reads a value from: outside its loop the copy."""
        made = self.homes.copied.get(value)
        inside = made is None or self.block.name in self.graph.cycles_around(made)[-1].blocks
        return value if inside else ("copy", value)

    def is_first(self, target: str) -> bool:
        """Whether this is the first way to a block that all come to in one iteration, none over another loop: who came
        in earlier iterations has left it."""
        around = self.graph.cycles_around(target)
        before = self.graph.predecessors[target]
        again = target in self.reached
        if around and around[-1].header == target:
            inside = self.block.name in around[-1].blocks
            again = inside and self.block.name != self.last[target]  # others are still to come in this iteration
            before = tuple(name for name in before if (name in around[-1].blocks) == inside)
            around = around if inside else around[:-1]
            again |= len(set(before)) > 1
        self.reached.add(target)
        level = all(self.graph.cycles_around(name) == around for name in before)
        return level and not again and not self.lockstep

    def gone(self) -> None:
        """Write nothing: the blocks that come next look for lanes."""

    def leaves(self, branch: Branch) -> tuple[bool, Ir]:
        """Return whether the lanes that take the branch leave the loop around it, where they wait for those that stay,
        and how long the log was when it was entered."""
        around = self.graph.cycles_around(self.block.name)
        if self.part is None or not around:
            return False, I64(-1)
        then, other = (name not in around[-1].blocks for name in (branch.then, branch.other))
        return then and not other, self.frame.load(("since", around[-1].header), I64) if then != other else I64(-1)

    # --- where control goes back

    def leave_block(self) -> Ir:
        """Return the LLVM block that control goes to where it has to go back."""
        if self.charges is None:
            return super().leave_block()
        e = self.e
        made, here = e.block("leave"), e.b.block
        e.at(made)
        self.charges.settle(self.block.name)
        e.b.branch(self.stopped)
        e.at(here)
        return made

    def wait(self, number: Ir) -> None:
        """Write: return to the driver with this number; nothing stays uncharged."""
        self.settle(self.mask)
        super().wait(number)

    def settle(self, mask: Ir) -> None:
        """Write: where lanes are missing, all that the others have executed is charged."""
        if self.charges is not None:
            with self.e.b.if_then(self.e.b.icmp_unsigned("!=", mask, self.everyone)):
                self.charges.settle(self.block.name)

    # --- what a policy shows

    def meet(self, instruction: Instruction) -> None:
        """Write: where a policy is shown, lanes that only have to end do so before others wait at a barrier."""
        if instruction.op != "barrier" or not self.lockstep:
            return
        here = self.block, self.segment, self.cache
        self.frame.store("mask", self.mask)
        for name in self.graph.order:
            if name in self.graph.leaving:
                self.visit(name)
        self.block, self.segment, _ = here
        self.mask, self.cache = self.frame.load("mask", self.e.mask_type), {}

    def add_sets(self, number: Ir) -> None:
        """Write: so many sets of lanes more wait for their turn."""
        if self.lockstep:
            self.frame.store("sets", self.e.b.add(self.frame.load("sets", I64), number))

    def note_sets(self) -> None:
        """Write: take note of how many wait besides the one that goes on."""
        e = self.e
        if self.lockstep:
            e.raise_to(self.state, LaunchWords.WAITING, e.b.sub(self.frame.load("sets", I64), I64(1)))


def _last(loop: NaturalLoop) -> str:
    """Return the last block of a loop in order."""
    last = loop.items[-1]
    return _last(last) if isinstance(last, NaturalLoop) else last
