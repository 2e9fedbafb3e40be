"""Blocks of a kernel become LLVM IR under a mask: what lanes compute in them, and which ways they go then.

Writers of kernels stand on it, who say in which order blocks run: kernel.py (one behind the other) and scheduled.py (as
a policy picks them). Here is what both have: values and where they live, counters, and the ends of blocks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence

from llvmlite import ir

from warpsmith.simt.engine.access import Runtime
from warpsmith.simt.engine.instructions import Ops
from warpsmith.simt.engine.lanes import I1, I64, POINTER, Ir, element
from warpsmith.simt.engine.observers.lost import charge_function, part_function
from warpsmith.simt.engine.values import Homes, SlotMaker
from warpsmith.simt.engine.words import LaunchWords, Stop
from warpsmith.simt.engine.writing.ends import Ends
from warpsmith.simt.engine.writing.segments import Segment
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import (
    BasicBlock,
    Branch,
    Constant,
    Exit,
    Function,
    Instruction,
    Jump,
    Operand,
    Return,
    Switch,
    Undefined,
    Unreachable,
    Value,
)

__all__ = ["COUNTERS", "BlockWriter", "Ways"]

COUNTERS = 3
"""Of each segment: visits, lanes, divergences."""

Ways = Mapping[str, Ir]
"""The lanes that go to each block."""


class BlockWriter(ABC):
    """Writes the warp function of one kernel, whose parts are `segments`; control comes back in the middle of the
    blocks of `split`. `framed`: values live in the frame of the warp; `first`: the number of the first block."""

    def __init__(
        self,
        runtime: Runtime,
        function: Function,
        tables: Ops,
        split: frozenset[str],
        *,
        framed: bool,
        first: int = 0,
    ) -> None:
        self.runtime, self.function, self.ops = runtime, function, tables
        self.e = e = runtime.emit()
        self.graph = graph = Graph.of(function)
        self.blocks = {block.name: block for block in function.blocks}
        self.numbers = {block.name: number for number, block in enumerate(function.blocks, first)}
        linear = runtime.checks.turns == "linear"
        self.homes = Homes.of(function, graph, split, tables.operands, linear=linear)
        self.ends = Ends.of(function, graph)
        self.segments: tuple[Segment, ...] = ()
        self.lockstep = runtime.checks.policy
        lost = runtime.checks.lost
        made = runtime.module.globals
        self.part = (made.get("part") or part_function(runtime.emit())) if lost else None
        self.charge = (made.get("charge") or charge_function(runtime.emit())) if lost else None
        self.base: Ir = None
        self.warp = self.declare()
        e.at(self.warp.append_basic_block("entry"))
        self.frame = SlotMaker(e, self.base if framed else None)
        self.resumed: list[Ir] = []
        self.tables: dict[LaunchWords, Ir] = {}
        self.cache: dict[Value, Ir] = {}
        self.mask: Ir = None
        self.block = function.blocks[0]
        self.segment = 0

    def declare(self) -> Ir:
        """Return the LLVM function, and take its arguments."""
        e = self.e
        given = [POINTER, POINTER, POINTER, I64, e.mask_type]
        made = ir.Function(e.module, ir.FunctionType(I64, given), "warp")
        self.state, self.base, self.counters, self.number, self.everyone = made.args
        return made

    def begin(self, body: Callable[[], None]) -> None:
        """Write the start of the function: all threads are live, `body` follows; called again, it goes on where it
        waited."""
        e = self.e
        start, self.stopped = e.block("start"), e.block("stopped")
        enter: Ir = None
        if self.frame.base is not None:
            enter = e.b.switch(e.read(self.base, 0), start)
        else:
            e.b.branch(start)
        e.at(start)
        self.frame.store("live", self.entering())
        body()
        for number, block in enumerate(self.resumed, 1):
            enter.add_case(I64(number), block)
        e.at(self.stopped)
        self.leave()

    def entering(self) -> Ir:
        """Return the lanes that the function is called for."""
        return self.everyone

    def leave(self) -> None:
        """Write the return where nothing more is done: nobody waits."""
        self.e.b.ret(I64(0))

    @abstractmethod
    def go(self, ways: Ways) -> None:
        """Write: lanes leave the block for others."""

    @abstractmethod
    def gone(self) -> None:
        """Write: the lanes of the mask have ended."""

    def meet(self, instruction: Instruction) -> None:
        """Write what comes before an instruction for which lanes may wait: nothing."""
        return

    # --- what is counted, and what it may take

    def counter(self, which: int) -> Ir:
        """Return the address of a counter of the segment."""
        return self.e.word(self.counters, COUNTERS * self.segment + which)

    def count_visit(self, count: int) -> None:
        """Write: the lanes of the mask come to `count` instructions."""
        e, mask = self.e, self.mask
        e.add_to(self.counter(0), I64(1))
        e.add_to(self.counter(1), e.count(mask))
        if self.charge is not None:
            with e.b.if_then(e.b.icmp_unsigned("!=", mask, self.everyone), likely=False):
                e.b.call(self.charge, [self.state, mask, e.remove_lanes(self.everyone, mask), I64(count)])

    def spend(self, mask: Ir, count: int) -> None:
        """Write: take `count` instructions of the lanes from the budget; stop where there is none left, or it is asked
        for."""
        e = self.e
        left = e.b.sub(e.read(self.state, LaunchWords.BUDGET), e.b.mul(e.count(mask), I64(count)))
        e.write(self.state, LaunchWords.BUDGET, left)
        with e.b.if_then(e.b.icmp_signed("<", left, I64(0)), likely=False):
            self.stop(Stop.BUDGET)
        go = e.block("go")
        e.b.cbranch(e.is_asked(self.state, LaunchWords.LEAVE), self.leave_block(), go)
        e.at(go)

    def leave_block(self) -> Ir:
        """Return the LLVM block that control goes to where it has to go back."""
        return self.stopped

    def stop(self, why: Stop) -> None:
        """Write: something is wrong here."""
        e = self.e
        e.b.call(self.runtime.stop, [self.state, I64(why), I64(0), I64(-1), I64(self.numbers[self.block.name])])

    def compute(self, instructions: Sequence[Instruction]) -> None:
        """Write what the lanes of the mask compute."""
        for instruction in instructions:
            if instruction in self.ops.unused:
                continue
            self.meet(instruction)
            results = self.emit(instruction)
            for value, made in zip(instruction.results, results, strict=True):
                self.define(value, made)

    def emit(self, instruction: Instruction) -> Sequence[Ir]:
        """Write one instruction; return its results."""
        return self.ops.emit(self, instruction)

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
                    self.cache[operand] = self.frame.load(self.home(operand), e.vector(element(operand.type)))
                return self.cache[operand]
            case Constant():
                return e.pattern(element(operand.type), operand.bits)
            case Undefined():
                return self.undefined_pattern(operand)

    def home(self, value: Value) -> object:
        """Return the key of the slot that the block reads a value from."""
        return value

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
        first = e.b.mul(self.number, e.read(self.state, LaunchWords.WIDTH))
        return e.b.add(e.splat(first), e.each_lane(I64, lambda lane: lane))

    def table(self, word: LaunchWords) -> Ir:
        """Return a table of the launch, whose address is read once a call."""
        if word not in self.tables:
            with self.e.b.goto_entry_block():
                self.tables[word] = self.e.pointer(self.e.read(self.state, word))
        return self.tables[word]

    def live(self) -> Ir:
        """Return the lanes that have not ended."""
        return self.frame.load("live", self.e.mask_type)

    def write_phis(self, target: str, mask: Ir, *, first: bool = False) -> None:
        """Write: the phis of another block take their values, all at once, for the lanes that go there. `first`: no
        other lane has come to that block, so that nothing has to be kept."""
        e, before = self.e, self.block.name
        phis = self.blocks[target].phis
        incoming = [self.value(dict(phi.incoming)[before]) for phi in phis]
        for phi, made in zip(phis, incoming, strict=True):
            if not first:
                made = e.b.select(e.unpack_mask(mask), made, self.frame.load(phi.result, made.type))
            self.frame.store(phi.result, made)

    # --- ends of blocks

    def end(self, block: BasicBlock) -> None:
        """Write the terminator."""
        e, terminator = self.e, block.terminator
        match terminator:
            case Jump():
                self.go({terminator.target: self.mask})
            case Branch():
                self.fork(terminator)
            case Switch():
                self.spread(terminator)
            case Return() | Exit() | Unreachable():
                if isinstance(terminator, Unreachable) or (isinstance(terminator, Exit) and terminator.fails):
                    self.stop(Stop.UNREACHABLE if isinstance(terminator, Unreachable) else Stop.TRAP)
                self.frame.store("live", e.remove_lanes(self.live(), self.mask))
                self.note_end(block.name)
                self.gone()

    def note_end(self, block: str) -> None:
        """Write: lanes have ended in a block, where it stands behind a barrier."""
        bit = self.ends.bits.get(block, 0)
        if bit:
            passed = self.e.read(self.state, LaunchWords.PASSED)
            self.e.write(self.state, LaunchWords.PASSED, self.e.b.or_(passed, I64(bit)))

    def fork(self, branch: Branch) -> None:
        """Write a branch."""
        if branch.then == branch.other:
            self.go({branch.then: self.mask})
            return
        e = self.e
        then = e.b.and_(e.bits(self.value(branch.condition)), self.mask)
        ways = {branch.then: then, branch.other: e.remove_lanes(self.mask, then)}
        self.count_divergence(list(ways.values()), self.leaves(branch))
        self.go(ways)

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
        if len(ways) > 1:
            self.count_divergence(list(ways.values()), (False, I64(-1)))
        self.go(ways)

    def leaves(self, branch: Branch) -> tuple[bool, Ir]:
        """Return whether the lanes that take the branch leave the loop around it while the others stay, and how long
        the log was when it was entered; (false, -1) where not just one of the ways leaves it, or lanes that leave do
        not wait for the others."""
        return False, I64(-1)

    def count_divergence(self, ways: Sequence[Ir], leaves: tuple[bool, Ir]) -> None:
        """Write: count a divergence where lanes go more than one way, and take note of who left whom."""
        e = self.e
        with e.b.if_then(self.are_apart(ways)):
            e.add_to(self.counter(2), I64(1))
            rest = self.mask
            for way in ways[:-1] if self.part is not None else ():
                rest = e.remove_lanes(rest, way)
                both = e.b.and_(e.any(way), e.any(rest))
                one, other = (rest, way) if leaves[0] else (way, rest)
                with e.b.if_then(both):
                    number = I64(self.numbers[self.block.name])
                    e.b.call(self.part, [self.state, one, other, number, leaves[1]])

    def are_apart(self, ways: Sequence[Ir]) -> Ir:
        """Return whether the lanes of the mask go more than one way."""
        e = self.e
        if len(ways) == 2:
            return e.b.and_(*map(e.any, ways))
        found: Ir = I1(0)
        for way in ways:
            found = e.b.or_(found, e.b.and_(e.any(way), e.b.icmp_unsigned("!=", way, self.mask)))
        return found

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
