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

from llvmlite import ir

from warpsmith.simt.engine.access import Runtime
from warpsmith.simt.engine.instructions import Ops
from warpsmith.simt.engine.lanes import I64, POINTER, Ir, element
from warpsmith.simt.engine.linear import Item, NaturalLoop, linear
from warpsmith.simt.engine.observers.lost import charge_function, part_function
from warpsmith.simt.engine.values import Homes, SlotMaker
from warpsmith.simt.engine.words import LaunchWords, Stop
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import (
    BasicBlock,
    Branch,
    Constant,
    Exit,
    Function,
    Jump,
    Operand,
    Return,
    Switch,
    Undefined,
    Unreachable,
    Value,
)

__all__ = ["COUNTERS", "KernelWriter"]

COUNTERS = 3
"""Of each block: visits, lanes, divergences."""


class KernelWriter:
    """Writes the warp function of one kernel. `sites` are its accesses in order, `barriers` how many there are."""

    def __init__(self, runtime: Runtime, function: Function, tables: Ops) -> None:
        self.runtime, self.function, self.ops = runtime, function, tables
        self.e = e = runtime.emit()
        self.graph = graph = Graph.of(function)
        self.blocks = {block.name: block for block in function.blocks}
        self.numbers = {block.name: number for number, block in enumerate(function.blocks)}
        split = frozenset(b.name for b in function.blocks if any(i.op == "barrier" for i in b.instructions))
        self.homes = Homes.of(function, graph, split)
        lost = runtime.checks.lost
        self.part = part_function(runtime.emit(), runtime.stop) if lost else None
        self.charge = charge_function(runtime.emit()) if lost else None
        given = [POINTER, POINTER, POINTER, I64, e.mask_type]
        self.warp = ir.Function(e.module, ir.FunctionType(I64, given), "warp")
        self.warp.linkage = "internal"
        self.state, self.base, self.counters, self.number, self.everyone = self.warp.args
        e.at(self.warp.append_basic_block("entry"))
        self.frame = SlotMaker(e, self.base if split else None)
        self.resumed: list[Ir] = []
        self.cache: dict[Value, Ir] = {}
        self.mask: Ir = None
        self.block = function.blocks[0]

    def write(self) -> None:
        """Write the whole function."""
        e = self.e
        start, self.stopped = e.block("start"), e.block("stopped")
        enter: Ir = None
        if self.frame.base is not None:
            enter = e.b.switch(e.read(self.base, 0), start)
        else:
            e.b.branch(start)
        e.at(start)
        for name in self.graph.order:
            self.frame.store(("pending", name), e.mask(0))
        self.frame.store(("pending", self.graph.entry), self.everyone)
        self.frame.store("live", self.everyone)
        self.items(linear(self.graph))
        e.b.ret(I64(0))
        for number, block in enumerate(self.resumed, 1):
            enter.add_case(I64(number), block)
        e.at(self.stopped)
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
        self.compute(self.blocks[name], mask)
        e.b.branch(after)
        e.at(after)

    def loop(self, loop: NaturalLoop) -> None:
        """Write a loop: again while a lane came back to its header."""
        e = self.e
        top, after = e.block(f"top.{loop.header}"), e.block(f"out.{loop.header}")
        if self.part is not None:
            self.frame.store(("since", loop.header), self.log_length())
        e.b.cbranch(e.any(self.pending(loop.header)), top, after)
        e.at(top)
        mask = self.pending(loop.header)
        self.block = self.blocks[loop.header]
        self.spend(mask, loop.header)
        self.compute(self.blocks[loop.header], mask)
        self.items(loop.items[1:])
        e.b.cbranch(e.any(self.pending(loop.header)), top, after)
        e.at(after)

    def pending(self, name: str) -> Ir:
        """Return the lanes that wait to enter a block."""
        return self.frame.load(("pending", name), self.e.mask_type)

    def spend(self, mask: Ir, header: str) -> None:
        """Write: take an iteration's least number of steps from the budget; stop where there is none left, or it is
        asked for."""
        e = self.e
        steps = e.b.mul(e.count(mask), I64(len(self.blocks[header].instructions) + 1))
        left = e.b.sub(e.read(self.state, LaunchWords.BUDGET), steps)
        e.write(self.state, LaunchWords.BUDGET, left)
        with e.b.if_then(e.b.icmp_signed("<", left, I64(0)), likely=False):
            self.stop(Stop.BUDGET)
        go = e.block("go")
        e.b.cbranch(e.is_asked(self.state, LaunchWords.LEAVE), self.stopped, go)
        e.at(go)

    def stop(self, why: Stop) -> None:
        """Write: something is wrong here."""
        e = self.e
        e.b.call(self.runtime.stop, [self.state, I64(why), I64(0), I64(-1), I64(self.numbers[self.block.name])])

    def compute(self, block: BasicBlock, mask: Ir) -> None:
        """Write what a block does with the lanes of a mask."""
        e = self.e
        self.block, self.mask, self.cache = block, mask, {}
        self.frame.store(("pending", block.name), e.mask(0))
        e.add_to(self.counter(0), I64(1))
        e.add_to(self.counter(1), e.count(mask))
        count = len(block.instructions) + 1
        if self.charge is not None:
            with e.b.if_then(e.b.icmp_unsigned("!=", mask, self.everyone), likely=False):
                e.b.call(self.charge, [self.state, mask, e.remove_lanes(self.everyone, mask), I64(count)])
        for instruction in block.instructions:
            results = self.ops.emit(self, instruction)
            for value, made in zip(instruction.results, results, strict=True):
                self.define(value, made)
        self.end(block)

    def counter(self, which: int) -> Ir:
        """Return the address of a counter of the block."""
        return self.e.word(self.counters, COUNTERS * self.numbers[self.block.name] + which)

    # --- values

    def define(self, value: Value, made: Ir) -> None:
        """Take note of what a value is in the active lanes."""
        self.cache[value] = made
        if value in self.homes.kept:
            if value in self.homes.blended:
                made = self.e.b.select(self.e.unpack_mask(self.mask), made, self.frame.load(value, made.type))
            self.frame.store(value, made)

    def value(self, operand: Operand) -> Ir:
        """Return an operand as a vector."""
        e = self.e
        match operand:
            case Value():
                if operand not in self.cache:
                    self.cache[operand] = self.frame.load(operand, e.vector(element(operand.type)))
                return self.cache[operand]
            case Constant():
                return e.pattern(element(operand.type), operand.bits)
            case Undefined():
                return self.undefined_pattern(operand)

    def undefined_pattern(self, operand: Undefined) -> Ir:
        """Return the pattern that the interpreter gives a register that was never written."""
        e, type = self.e, operand.type
        product = e.b.mul(self.threads(), e.splat_constant(I64, 0x9E3779B9))
        whole = e.b.xor(product, e.splat_constant(I64, 0x5EED5EED5EED5EED))
        bits = whole if type.bits == 64 else e.b.trunc(whole, e.vector(ir.IntType(type.bits)))
        return e.b.bitcast(bits, e.vector(element(type)))

    def threads(self) -> Ir:
        """Return the number of each lane's thread in its block."""
        e = self.e
        return e.b.add(e.splat(e.b.mul(self.number, I64(e.width))), e.each_lane(I64, lambda lane: lane))

    def live(self) -> Ir:
        """Return the lanes that have not ended."""
        return self.frame.load("live", self.e.mask_type)

    # --- ends of blocks

    def end(self, block: BasicBlock) -> None:
        """Write the terminator."""
        e, terminator = self.e, block.terminator
        match terminator:
            case Jump():
                self.edge(terminator.target, self.mask)
            case Branch():
                self.fork(terminator)
            case Switch():
                self.spread(terminator)
            case Return() | Exit() | Unreachable():
                if isinstance(terminator, Unreachable) or (isinstance(terminator, Exit) and terminator.fails):
                    self.stop(Stop.UNREACHABLE if isinstance(terminator, Unreachable) else Stop.TRAP)
                self.frame.store("live", e.remove_lanes(self.live(), self.mask))

    def edge(self, target: str, mask: Ir) -> None:
        """Write the way of some lanes to another block: its phis take their values all at once."""
        e, before = self.e, self.block.name
        phis = self.blocks[target].phis
        incoming = [self.value(dict(phi.incoming)[before]) for phi in phis]
        for phi, made in zip(phis, incoming, strict=True):
            old = self.frame.load(phi.result, made.type)
            self.frame.store(phi.result, e.b.select(e.unpack_mask(mask), made, old))
        self.frame.store(("pending", target), e.b.or_(self.pending(target), mask))
        if target in self.graph.leaving:
            # it comes last in the order of the blocks, behind barriers that do not wait for who only has to end
            self.frame.store("live", e.remove_lanes(self.live(), mask))

    def fork(self, branch: Branch) -> None:
        """Write a branch."""
        if branch.then == branch.other:
            self.edge(branch.then, self.mask)
            return
        e = self.e
        then = e.b.and_(e.bits(self.value(branch.condition)), self.mask)
        other = e.remove_lanes(self.mask, then)
        self.count_divergence([then, other], self.leaves(branch))
        self.edge(branch.then, then)
        self.edge(branch.other, other)

    def spread(self, switch: Switch) -> None:
        """Write a switch: the first case that is equal."""
        e, left = self.e, self.mask
        value = self.value(switch.value)
        ways: dict[str, Ir] = {}
        for number, target in switch.cases:
            if 0 <= number < 1 << switch.value.type.bits:
                same = e.bits(e.b.icmp_unsigned("==", value, e.splat_constant(value.type.element, number)))
                lanes = e.b.and_(same, left)
                left = e.remove_lanes(left, lanes)
                ways[target] = e.b.or_(ways[target], lanes) if target in ways else lanes
        ways[switch.other] = e.b.or_(ways[switch.other], left) if switch.other in ways else left
        self.count_divergence(list(ways.values()), (False, I64(-1)))
        for target, lanes in ways.items():
            self.edge(target, lanes)

    def log_length(self) -> Ir:
        """Return how many entries the log of lanes that diverged has."""
        return self.e.read(self.e.pointer(self.e.read(self.state, LaunchWords.LOG)), 0)

    def leaves(self, branch: Branch) -> tuple[bool, Ir]:
        """Return whether the lanes that take the branch leave the loop around it while the others stay, and how long
        the log was when it was entered; (false, -1) where not just one of the ways leaves it."""
        around = self.graph.cycles_around(self.block.name)
        if self.part is None or not around:
            return False, I64(-1)
        then, other = (name not in around[-1].blocks for name in (branch.then, branch.other))
        return then and not other, self.frame.load(("since", around[-1].header), I64) if then != other else I64(-1)

    def count_divergence(self, ways: Sequence[Ir], leaves: tuple[bool, Ir]) -> None:
        """Write: count a divergence where lanes go more than one way, and take note of who left whom."""
        e = self.e
        first = [e.b.and_(e.any(way), e.b.icmp_unsigned("!=", way, self.mask)) for way in ways]
        apart = first[0]
        for one in first[1:]:
            apart = e.b.or_(apart, one)
        with e.b.if_then(apart):
            e.add_to(self.counter(2), I64(1))
            rest = self.mask
            for way in ways[:-1] if self.part is not None else ():
                rest = e.remove_lanes(rest, way)
                both = e.b.and_(e.any(way), e.any(rest))
                one, other = (rest, way) if leaves[0] else (way, rest)
                with e.b.if_then(both):
                    number = I64(self.numbers[self.block.name])
                    e.b.call(self.part, [self.state, one, other, number, leaves[1]])

    # --- barriers

    def wait(self, number: Ir) -> None:
        """Write: return to the driver with this number, and go on here when called again."""
        e = self.e
        again = e.block("again")
        self.resumed.append(again)
        e.write(self.base, 0, I64(len(self.resumed)))
        self.frame.store("mask", self.mask)
        e.b.ret(number)
        e.at(again)
        self.cache = {}
        self.mask = self.frame.load("mask", e.mask_type)
