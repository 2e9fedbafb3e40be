"""A kernel becomes a function that runs one warp: `warp(state, frame, counters, number, everyone) → where it waits`.

    for each block in order (linear.py):
        mask = pending[block]                     what came over the edges so far
        if mask is empty: next block              so lanes reconverge at once where ways meet
        count visit and lanes; compute; split mask at the branch, add the parts to pending of the targets
    a loop starts again while pending[header] has lanes

It returns 0 when all lanes have ended, else the number of the barrier at which they wait; called again, it goes on
there. Control goes back to the driver as well when State.LEAVE is set; then nothing more is done. Every loop looks.

A function that it calls (writing/calls.py) is written the same way, for the lanes that call it; those that return are
together again. Their call is the end of a segment, and they go on with the next one.
"""

from __future__ import annotations

from collections.abc import Sequence

from warpsmith.simt.engine.access import Runtime
from warpsmith.simt.engine.instructions import Ops
from warpsmith.simt.engine.lanes import I64, Ir, element
from warpsmith.simt.engine.observers.charges import Charges
from warpsmith.simt.engine.ops.integers import resize_lanes
from warpsmith.simt.engine.reading.calls import is_call
from warpsmith.simt.engine.reading.levels import Levels
from warpsmith.simt.engine.reading.linear import Item, NaturalLoop, linear, loops
from warpsmith.simt.engine.reading.spinning import spinning_loops
from warpsmith.simt.engine.words import GIVES_WAY, LaunchWords, Stop
from warpsmith.simt.engine.writing.blocks import COUNTERS, BlockWriter, Ways
from warpsmith.simt.engine.writing.calls import (
    Called,
    begin_function,
    end_function,
    from_bits,
    slot_type,
    to_bits,
)
from warpsmith.simt.engine.writing.segments import split_blocks, waits_for_block
from warpsmith.simt.thread import DEEPEST
from warpsmith.ssa.nodes import (
    Address,
    BasicBlock,
    Branch,
    Callee,
    Function,
    Instruction,
    Param,
    Return,
    Value,
)

__all__ = ["COUNTERS", "FunctionWriter", "KernelWriter"]


class KernelWriter(BlockWriter):
    """Writes a kernel whose loops have one entry each, and what it calls: a segment for each block, and one more behind
    each call. `called`: the functions that it calls, and that they call; `first`: the numbers of its first block and
    segment."""

    def __init__(
        self,
        runtime: Runtime,
        function: Function,
        tables: Ops,
        called: Sequence[Called] = (),
        first: tuple[int, int] = (0, 0),
    ) -> None:
        split = frozenset(b.name for b in function.blocks if any(map(waits_for_block, b.instructions)))
        self.spinning = spinning_loops(function) if runtime.checks.sliced else {}
        super().__init__(runtime, function, tables, split, framed=bool(split) or runtime.checks.sliced, first=first[0])
        self.called = called
        self.segments = split_blocks(function.blocks, is_call)
        self.first = {s.block.name: number for number, s in enumerate(self.segments, first[1]) if s.start == 0}
        self.sizes = {number: segment.count for number, segment in enumerate(self.segments, first[1])}
        self.beyond: Ir = None
        self.reached: set[str] = set()
        items = () if self.graph.irreducible else linear(self.graph)
        self.last = {loop.header: _last(loop) for loop in loops(items)}
        leveled = runtime.checks.lost and not self.lockstep and not called
        levels = Levels.find(self.graph) if leveled else None
        self.charges: Charges | None = None
        if levels is not None:
            self.charges = Charges(self.e, self.state, self.frame, levels, self.numbers)
            self.part = self.charge = None

    def write(self) -> None:
        """Write the whole function, and those that it calls."""
        self.begin(self.write_body)
        for one in self.called:
            writer = FunctionWriter(self.runtime, one, self.ops, self.called)
            writer.begin(writer.write_body)
            self.segments += writer.segments

    def write_body(self) -> None:
        """Write all blocks in order."""
        e = self.e
        for name in self.graph.order:
            self.frame.store(("pending", name), e.mask(0))
        self.frame.store(("pending", self.graph.entry), self.entering())
        if self.charges is not None:
            self.charges.start()
        if self.lockstep:
            self.frame.store("sets", self.waiting())
        self.items(linear(self.graph))
        self.finish()

    def waiting(self) -> Ir:
        """Return how many sets of lanes wait for their turn at first, with those that begin here."""
        return I64(1)

    def finish(self) -> None:
        """Write the return at the end."""
        self.e.b.ret(I64(0))

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
        self.segment, self.beyond = self.first[block.name], None
        self.frame.store(("pending", block.name), self.e.mask(0))
        self.add_sets(I64(-1))
        self.count_visit(self.sizes[self.segment])
        if self.charges is not None:
            self.charges.execute(block.name, len(block.instructions) + 1)
        self.compute(block.instructions)
        self.end(block)
        if self.beyond is not None:
            self.e.b.branch(self.beyond)
            self.e.at(self.beyond)

    # --- calls

    def emit(self, instruction: Instruction) -> Sequence[Ir]:
        """Write one instruction; return its results."""
        return self.call(instruction) if is_call(instruction) else super().emit(instruction)

    def call(self, i: Instruction) -> Sequence[Ir]:
        """Write a call: the lanes that come back go on with its results."""
        e, detail = self.e, i.detail
        assert isinstance(detail, Callee)
        called = next(one for one in self.called if one.function.name == detail.name)
        given = [e.slot(slot_type(e, one.bytes)) for one in called.function.parameters]
        made = [e.slot(slot_type(e, type.bytes)) for type in called.function.results]
        for slot, operand in zip(given, i.operands, strict=True):
            e.b.store(to_bits(e, self.value(operand), operand.type.bytes), slot)
        depth = self.enter_call(i)
        sets = self.frame.load("sets", I64) if self.lockstep else I64(0)
        fixed = [self.state, self.counters, self.number, self.everyone, self.mask, sets]
        back = e.b.call(called.declare(e), [*fixed, *given, *made])
        e.write(self.state, LaunchWords.DEPTH, depth)
        self.come_back(back)
        types = [value.type for value in i.results]
        loaded = [e.b.load(slot, typ=slot_type(e, type.bytes)) for slot, type in zip(made, types, strict=True)]
        return [from_bits(e, bits, type) for bits, type in zip(loaded, types, strict=True)]

    def enter_call(self, i: Instruction) -> Ir:
        """Write: the lanes of the mask are in a call more, if not in too many; return in how many they were."""
        e = self.e
        depth = e.read(self.state, LaunchWords.DEPTH)
        deep, go = e.block("deep"), e.block("call")
        e.b.cbranch(e.b.icmp_unsigned("<", depth, I64(DEEPEST)), go, deep)
        e.at(deep)
        self.ops.calls.append(i)
        first = e.b.mul(self.number, e.read(self.state, LaunchWords.WIDTH))
        where = [e.b.add(first, e.lowest(self.mask)), I64(len(self.ops.calls) - 1)]
        e.b.call(self.runtime.stop, [self.state, I64(Stop.DEPTH), I64(0), *where])
        e.b.branch(self.leave_block())
        e.at(go)
        e.write(self.state, LaunchWords.DEPTH, e.b.add(depth, I64(1)))
        return depth

    def come_back(self, back: Ir) -> None:
        """Write: these lanes go on behind a call, a segment of its own; the others have ended in it."""
        e, on = self.e, self.e.block("on")
        self.spend(back, self.sizes[self.segment + 1])
        self.frame.store("live", e.remove_lanes(self.live(), e.remove_lanes(self.mask, back)))
        if self.beyond is None:
            self.beyond = e.block("beyond")
        e.b.cbranch(e.any(back), on, self.beyond)
        e.at(on)
        self.mask, self.segment = back, self.segment + 1
        self.count_visit(self.sizes[self.segment])

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
        here = self.block, self.segment, self.beyond
        self.frame.store("mask", self.mask)
        for name in self.graph.order:
            if name in self.graph.leaving:
                self.visit(name)
        self.block, self.segment, self.beyond = here
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


class FunctionWriter(KernelWriter):
    """Writes a function that is called: it runs the lanes of a mask, and returns those that come back. What they are
    given and what they return is in memory of who calls."""

    def __init__(self, runtime: Runtime, own: Called, tables: Ops, called: Sequence[Called]) -> None:
        self.own, self.level = own, I64(0)
        super().__init__(runtime, own.function, tables, called, (own.block, own.segment))

    def declare(self) -> Ir:
        """Return the LLVM function, and take its arguments."""
        made = self.own.declare(self.e)
        self.state, self.counters, self.number, self.everyone, self.coming, self.sets, *rest = made.args
        parameters = self.own.function.parameters
        self.given = dict(zip((one.name for one in parameters), rest, strict=False))
        self.made = rest[len(parameters) :]
        return made

    def entering(self) -> Ir:
        """Return the lanes that the function is called for."""
        return self.coming

    def waiting(self) -> Ir:
        """Return how many sets of lanes wait for their turn at first, with those that begin here."""
        return self.e.b.add(self.sets, I64(1))

    def leave(self) -> None:
        """Write the return where nothing more is done: nobody goes on."""
        self.e.b.ret(self.e.mask(0))

    def write_body(self) -> None:
        """Write all blocks in order: the call is counted, and takes its part of the budget."""
        self.frame.store("back", self.e.mask(0))
        self.begin_level()
        if not self.graph.cycles_around(self.graph.entry):
            self.spend(self.coming, self.sizes[self.first[self.graph.entry]])
        super().write_body()

    def begin_level(self) -> None:
        """Write: there is one call more of the function, with arrays of its own."""
        e, own = self.e, self.own
        if not own.arrays:
            return
        levels = self.table(LaunchWords.LEVELS)
        self.level = e.read(levels, own.number)
        e.write(levels, own.number, e.b.add(self.level, I64(1)))
        many, go = e.block("many"), e.block("go")
        e.b.cbranch(e.b.icmp_unsigned("<", self.level, e.read(self.state, LaunchWords.MOST_LEVELS)), go, many)
        e.at(many)
        self.stop(Stop.LEVELS)
        e.b.branch(self.stopped)
        e.at(go)
        for array in range(own.array, own.array + len(own.arrays)):
            given = [self.state, I64(array), self.level, self.number, self.coming]
            e.b.call(begin_function(self.runtime), given)

    def finish(self) -> None:
        """Write the return at the end, with the lanes that come back."""
        e, own = self.e, self.own
        if own.arrays:
            e.write(self.table(LaunchWords.LEVELS), own.number, self.level)
            # those of the first level stay
            with e.b.if_then(e.b.icmp_unsigned("!=", self.level, I64(0))):
                e.b.call(end_function(self.runtime, len(self.ops.sites)), [self.state, I64(len(own.arrays))])
        e.b.ret(self.frame.load("back", e.mask_type))

    def end(self, block: BasicBlock) -> None:
        """Write the terminator: lanes that return wait for those that called with them."""
        terminator = block.terminator
        if not isinstance(terminator, Return):
            super().end(block)
            return
        e = self.e
        for slot, operand in zip(self.made, terminator.operands, strict=True):
            bits = to_bits(e, self.value(operand), operand.type.bytes)
            old = e.b.load(slot, typ=bits.type)
            e.b.store(e.b.select(e.unpack_mask(self.mask), bits, old), slot)
        back = self.frame.load("back", e.mask_type)
        if self.lockstep:
            self.add_sets(e.b.zext(e.b.icmp_unsigned("==", back, e.mask(0)), I64))
        self.frame.store("back", e.b.or_(back, self.mask))

    def emit(self, instruction: Instruction) -> Sequence[Ir]:
        """Write one instruction; return its results: parameters and local arrays are those of the call."""
        e, detail = self.e, instruction.detail
        if isinstance(detail, Param):
            size = next(one.bytes for one in self.own.function.parameters if one.name == detail.parameter)
            bits = e.b.load(self.given[detail.parameter], typ=slot_type(e, size))
            return [from_bits(e, bits, instruction.result.type)]
        if isinstance(detail, Address) and detail.symbol in self.own.arrays:
            first = e.read(self.table(LaunchWords.PLACES), self.ops.places[detail.symbol])
            place = e.b.add(first, e.b.mul(self.level, e.read(self.state, LaunchWords.STRIDE)))
            return [resize_lanes(e, e.splat(place), element(instruction.result.type))]
        return super().emit(instruction)

    def leaves(self, branch: Branch) -> tuple[bool, Ir]:
        """Return that what the log has of a loop is not looked at: it may be of another call of the function."""
        return False, I64(-1)


def _last(loop: NaturalLoop) -> str:
    """Return the last block of a loop in order."""
    last = loop.items[-1]
    return _last(last) if isinstance(last, NaturalLoop) else last
