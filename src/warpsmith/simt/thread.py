"""One thread of a launch: its frames, its registers, and one instruction at a time.

A step either computes, touches memory, moves to another block, or stops where other lanes are needed: at a barrier, a
vote, a shuffle. Then the thread waits until the interpreter has an answer for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from msgspec import Struct, field

from warpsmith.base.source import Span
from warpsmith.simt.combine import COMBINE
from warpsmith.simt.launch import Launch
from warpsmith.simt.layout import MemoryLayout, MemoryPart, own_variables
from warpsmith.simt.library import answer
from warpsmith.simt.meeting.waiting import says_nothing, waits_for_others
from warpsmith.simt.memory import (
    LOCAL_WINDOW,
    SHARED_WINDOW,
    AccessKind,
    AccessOrigin,
    Buffer,
    Fault,
    LaunchMemory,
    RecordedAccess,
)
from warpsmith.simt.observer import Lane, Observer
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import (
    Address,
    BasicBlock,
    Branch,
    Callee,
    Constant,
    Exit,
    Function,
    Instruction,
    Jump,
    Module,
    NoWrap,
    Operand,
    Param,
    Query,
    Return,
    Switch,
    Text,
    Undefined,
    Unreachable,
    Value,
)
from warpsmith.ssa.nodes import Memory as MemoryDetail
from warpsmith.ssa.semantics.lane import lane as compute
from warpsmith.ssa.semantics.patterns import to_signed
from warpsmith.ssa.types import Type

__all__ = ["DEEPEST", "CallFrame", "Code", "LaunchedKernel", "Thread"]

DEEPEST: Final = 200
"""Calls that a thread may be in, one inside the other."""


class Code(Struct, frozen=True):
    """A function ready to run: blocks by name; for each block the headers of the cycles around it, outermost first; for
    each header the blocks of its cycle; `variables`: in local memory, that each call has for itself."""

    function: Function
    blocks: Mapping[str, BasicBlock]
    around: Mapping[str, tuple[str, ...]]
    cycles: Mapping[str, frozenset[str]]
    variables: frozenset[str]

    @classmethod
    @lru_cache(maxsize=256)
    def of(cls, function: Function) -> Code:
        """Prepare a function with blocks, which may be run many times."""
        graph = Graph.of(function)
        cycles = {name: graph.cycles_around(name) for name in graph.order}
        return cls(
            function,
            {block.name: block for block in function.blocks},
            {name: tuple(cycle.header for cycle in found) for name, found in cycles.items()},
            {cycle.header: cycle.blocks for found in cycles.values() for cycle in found},
            own_variables(function),
        )


class CallFrame(Struct):
    """A function that a thread is in: where, what its values are, which iteration of its loops (`moment`: of those
    around the block); `level`: how many calls of this function have not returned, before this one."""

    code: Code
    block: BasicBlock
    place: int
    values: dict[Value, int]
    rounds: dict[str, int]
    parameters: dict[tuple[str, int], tuple[int, Type]] | None = None
    call: Instruction | None = None
    moment: tuple[int, ...] = ()
    level: int = 0


class LaunchedKernel(Struct, frozen=True):
    """What all threads of a launch share. `places`: where each variable stands, in its own space."""

    module: Module
    entry: Code
    launch: Launch
    memory: LaunchMemory
    codes: Mapping[str, Code]
    places: Mapping[str, int]
    shared: MemoryLayout
    local: MemoryLayout
    observer: Observer
    overflows: dict[Instruction, Lane] = field(default_factory=dict)


class Thread(Struct):
    """One thread; `waiting` is the instruction at which it stands until others come, `operands` what it brought;
    `moment` is the dynamic instance of what it does now: calls and iterations, outermost first."""

    kernel: LaunchedKernel
    lane: Lane
    shared: Buffer
    local: Buffer
    frames: list[CallFrame] = field(default_factory=list)
    waiting: Instruction | None = None
    operands: tuple[int, ...] = ()
    ended: bool = False
    failed: bool = False
    epoch: int = 0
    warp_epoch: int = 0
    grid_epoch: int = 0
    tick: int = 0
    known: Mapping[int, int] = field(default_factory=dict)
    moment: tuple[object, ...] = ()

    def start(self) -> None:
        """Stand at the entry."""
        code = self.kernel.entry
        self.frames = [CallFrame(code, code.function.blocks[0], 0, {}, {})]
        self.enter(self.frames[0], "", code.function.blocks[0].name)

    @property
    def span(self) -> Span | None:
        """The line that it is at."""
        frame = self.frames[-1]
        if frame.place < len(frame.block.instructions):
            return frame.block.instructions[frame.place].span
        return frame.block.terminator.span

    def step(self) -> None:
        """Execute one instruction or terminator; raises Fault where the kernel does what it must not."""
        frame = self.frames[-1]
        if frame.place == len(frame.block.instructions):
            self.leave(frame)
            return
        instruction = frame.block.instructions[frame.place]
        operands = tuple(self.number(operand, frame) for operand in instruction.operands)
        if waits_for_others(instruction):
            self.waiting, self.operands = instruction, operands
            return
        if instruction.op == "call":
            self.call(frame, instruction, operands)
            return
        self.finish(instruction, self.execute(frame, instruction, operands))

    def finish(self, instruction: Instruction, results: tuple[int, ...]) -> None:
        """Go on behind `instruction`, whose results are known."""
        frame = self.frames[-1]
        frame.values.update(zip(instruction.results, results, strict=True))
        if results:
            self.kernel.observer.value(self.lane, instruction, self.moment, results)
        frame.place += 1
        self.waiting = None

    def number(self, operand: Operand, frame: CallFrame) -> int:
        """Return what an operand is in this lane; what is undefined has a pattern that differs from lane to lane."""
        match operand:
            case Value():
                return frame.values[operand]
            case Constant():
                return operand.bits
            case Undefined():
                return (0x5EED5EED5EED5EED ^ self.lane.thread * 0x9E3779B9) & ((1 << operand.type.bits) - 1)

    # --- what instructions do

    def execute(self, frame: CallFrame, instruction: Instruction, operands: tuple[int, ...]) -> tuple[int, ...]:
        """Return the results of an instruction that needs no other lane."""
        special = _SPECIAL.get(instruction.op)
        if special is not None:
            return special(self, frame, instruction, operands)
        if instruction.op.startswith("atomic_"):
            return self.atomic(instruction, operands)
        results = compute(instruction, operands)
        if isinstance(instruction.detail, NoWrap) and instruction.detail.signed:
            self.exact(instruction, operands, results)
        return results

    def exact(self, instruction: Instruction, operands: tuple[int, ...], results: tuple[int, ...]) -> None:
        """Take note of a signed number that overflows where the language says that none does."""
        type = instruction.result.type
        a, b = (to_signed(bits, type) for bits in operands)
        whole = {"add": a + b, "sub": a - b, "mul": a * b}[instruction.op]
        if whole != to_signed(results[0], type):
            self.kernel.overflows.setdefault(instruction, self.lane)

    def load(self, frame: CallFrame, instruction: Instruction, operands: tuple[int, ...]) -> tuple[int, ...]:
        """Read consecutive elements."""
        size = instruction.results[0].type.bytes
        place, offset = self.place(instruction, operands[0], size * len(instruction.results))
        access = self.make_access(instruction, "load")
        read = self.kernel.memory.read
        return tuple(read(place, offset + n * size, size, access) for n in range(len(instruction.results)))

    def store(self, frame: CallFrame, instruction: Instruction, operands: tuple[int, ...]) -> tuple[int, ...]:
        """Write consecutive elements."""
        size = instruction.operands[1].type.bytes
        place, offset = self.place(instruction, operands[0], size * (len(operands) - 1))
        access = self.make_access(instruction, "store")
        for number, value in enumerate(operands[1:]):
            self.kernel.memory.write(place, offset + number * size, size, value, access)
        return ()

    def atomic(self, instruction: Instruction, operands: tuple[int, ...]) -> tuple[int, ...]:
        """Read, combine, write; return what was there."""
        type = instruction.operands[1].type
        place, offset = self.place(instruction, operands[0], type.bytes)
        access = self.make_access(instruction, "atomic")
        old = self.kernel.memory.read(place, offset, type.bytes, access)
        new = COMBINE[instruction.op.removeprefix("atomic_")](type, old, operands[1:])
        self.kernel.memory.write(place, offset, type.bytes, new & ((1 << type.bits) - 1), access)
        return (old,) if instruction.results else ()

    def make_access(self, instruction: Instruction, kind: AccessKind) -> RecordedAccess:
        """Return who accesses what, for the memory to remember."""
        return RecordedAccess(
            kind,
            AccessOrigin(
                self.lane.block,
                self.lane.warp,
                self.lane.thread,
                self.epoch,
                self.warp_epoch,
                self.grid_epoch,
                self.tick,
                self.known,
            ),
            instruction,
        )

    def place(self, instruction: Instruction, address: int, size: int) -> tuple[Buffer, int]:
        """Return the buffer and offset of an access, and tell the observer; raises Fault."""
        detail = instruction.detail
        assert isinstance(detail, MemoryDetail)
        where = (address + detail.offset) % 2**64
        # what is promised beyond the size of the access is for compilers; the machine does not look
        needed = min(detail.align, 1 << (size.bit_length() - 1))
        if needed and where % needed:
            message = f"the address {where:#x} is not a multiple of {needed}, as {instruction.op} needs"
            raise Fault(message, "alignment")
        self.kernel.observer.access(self.lane, instruction, self.moment, (detail.space, where, size))
        window = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}.get(detail.space, 0)
        return self.kernel.memory.find(where + window, size, (self.shared, self.local))

    def param(self, frame: CallFrame, instruction: Instruction, operands: tuple[int, ...]) -> tuple[int, ...]:
        """Read a parameter: of the launch, or what the caller gave."""
        detail = instruction.detail
        assert isinstance(detail, Param)
        if frame.parameters is not None:
            found = frame.parameters.get((detail.parameter, detail.offset))
            if found is None:
                raise Fault(f"{frame.code.function.name} reads {detail.parameter} in parts, which is not modeled")
            return (found[0] & ((1 << instruction.result.type.bits) - 1),)
        given = self.kernel.launch.arguments.get(detail.parameter)
        size = instruction.result.type.bytes
        if given is None or len(given) < detail.offset + size:
            raise Fault(f"the launch gives no argument {detail.parameter}, or not all of it")
        return (int.from_bytes(given[detail.offset : detail.offset + size], "little"),)

    def address(self, frame: CallFrame, instruction: Instruction, operands: tuple[int, ...]) -> tuple[int, ...]:
        """Return where a variable stands in its own space."""
        detail = instruction.detail
        assert isinstance(detail, Address)
        place = self.kernel.places.get(detail.symbol)
        if place is not None:
            inner = frame.level if detail.symbol in frame.code.variables else 0
            return (place + inner * self.kernel.local.stride,)
        raise Fault(f"there is no variable called {detail.symbol}")

    def query(self, frame: CallFrame, instruction: Instruction, operands: tuple[int, ...]) -> tuple[int, ...]:
        """Read a special register."""
        detail = instruction.detail
        assert isinstance(detail, Query)
        return (self.register(detail.register),)

    def register(self, name: str) -> int:
        """Return a special register; raises Fault for one that no run has (clocks, environment)."""
        launch, lane = self.kernel.launch, self.lane
        base, _, axis = name.partition(".")
        by_axis = {"tid": lane.index, "ctaid": lane.block_index, "ntid": launch.block, "nctaid": launch.grid}
        if base in by_axis and axis in ("x", "y", "z"):
            return by_axis[base]["xyz".index(axis)]
        below = (1 << lane.lane) - 1
        whole = (1 << launch.warp) - 1
        simple = {
            "laneid": lane.lane, "warpid": lane.warp, "nwarpid": -(-launch.threads // launch.warp),
            "lanemask_eq": 1 << lane.lane, "lanemask_lt": below, "lanemask_le": below << 1 | 1,
            "lanemask_gt": whole & ~(below << 1 | 1), "lanemask_ge": whole & ~below, "dynamic_smem_size": launch.shared,
        }  # fmt: skip
        if name not in simple:
            raise Fault(f"the register %{name} has no value here", "unmodeled")
        return simple[name]

    def window(self, frame: CallFrame, instruction: Instruction, operands: tuple[int, ...]) -> tuple[int, ...]:
        """Convert between an address in one space and the generic one."""
        detail = instruction.detail
        space = detail.text if isinstance(detail, Text) else ""
        base = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}.get(space, 0)
        return ((operands[0] + (base if instruction.op == "to_generic" else -base)) % 2**64,)

    def refuse_unknown(self, frame: CallFrame, instruction: Instruction, operands: tuple[int, ...]) -> tuple[int, ...]:
        """Refuse what has no semantics."""
        if says_nothing(instruction):
            return ()
        detail = instruction.detail
        text = detail.text if isinstance(detail, Text) else instruction.op
        raise Fault(f"this instruction is not modeled: {text}", "unmodeled")

    def library(self, frame: CallFrame, instruction: Instruction, operands: tuple[int, ...]) -> tuple[int, ...]:
        """Compute a function of the mathematics library, or ask what a texture has; refuse any other."""
        found = answer(instruction, operands, self.kernel.launch.textures)
        return self.refuse_unknown(frame, instruction, operands) if found is None else found

    def nothing(self, frame: CallFrame, instruction: Instruction, operands: tuple[int, ...]) -> tuple[int, ...]:
        """Do nothing: memory is always in order here."""
        return ()

    # --- control

    def call(self, frame: CallFrame, instruction: Instruction, operands: tuple[int, ...]) -> None:
        """Enter a function of the module."""
        detail = instruction.detail
        assert isinstance(detail, Callee)
        code = self.kernel.codes.get(detail.name)
        if code is None:
            raise Fault(f"{detail.name} is not defined in this file")
        if len(self.frames) > DEEPEST:
            raise Fault(f"{detail.name} is called more than {DEEPEST} deep")
        given = code.function.parameters
        if len(given) != len(operands):
            raise Fault(f"{detail.name} gets {len(operands)} values for {len(given)} parameters, which is not modeled")
        values = {
            (p.name, 0): (number, operand.type)
            for p, number, operand in zip(given, operands, instruction.operands, strict=True)
        }
        first = code.function.blocks[0]
        level = sum(other.code is code for other in self.frames)
        self.frames.append(CallFrame(code, first, 0, {}, {}, values, instruction, level=level))
        self.local.forget(self.variables())
        self.note_moment()
        self.kernel.observer.enter(self.lane, first, self.moment, 0)

    def leave(self, frame: CallFrame) -> None:
        """Execute the terminator of the block."""
        terminator = frame.block.terminator
        match terminator:
            case Return():
                self.back(tuple(self.number(operand, frame) for operand in terminator.operands))
            case Exit():
                self.ended, self.failed = True, terminator.fails
            case Unreachable():
                raise Fault("control gets to a place that it never should")
            case Jump() | Branch() | Switch():
                target = self.target(terminator, frame)
                self.kernel.observer.branch(self.lane, frame.block, self.moment, target)
                self.enter(frame, frame.block.name, target)

    def target(self, terminator: Jump | Branch | Switch, frame: CallFrame) -> str:
        """Return the block that comes next."""
        match terminator:
            case Jump():
                return terminator.target
            case Branch():
                return terminator.then if self.number(terminator.condition, frame) else terminator.other
            case Switch():
                value = self.number(terminator.value, frame)
                return next((block for number, block in terminator.cases if number == value), terminator.other)

    def back(self, results: tuple[int, ...]) -> None:
        """Return from a function, from the kernel for good."""
        frame = self.frames[-1]
        if frame.call is None:
            self.ended = True
        else:
            if frame.level:
                self.local.remove(self.variables())
            self.frames.pop()
            made = tuple(
                number & ((1 << value.type.bits) - 1) for number, value in zip(results, frame.call.results, strict=True)
            )
            self.note_moment()
            self.finish(frame.call, made)
            caller = self.frames[-1]
            self.kernel.observer.enter(self.lane, caller.block, self.moment, caller.place)

    def variables(self) -> tuple[MemoryPart, ...]:
        """Return where the variables of the innermost call stand in local memory."""
        frame = self.frames[-1]
        return tuple(part for part in self.kernel.local.level(frame.level) if part.name in frame.code.variables)

    def note_moment(self) -> None:
        """Take note of the moment: the block, or the function, is another one than before."""
        frame = self.frames[-1]
        frame.moment = tuple(frame.rounds.get(header, 0) for header in frame.code.around[frame.block.name])
        self.moment = tuple((frame.call, frame.moment) for frame in self.frames)

    def enter(self, frame: CallFrame, before: str, name: str) -> None:
        """Go to block `name`: its phis take their values all at once, its cycles count."""
        block = frame.code.blocks[name]
        incoming = {phi.result: dict(phi.incoming)[before] for phi in block.phis} if before else {}
        frame.values.update({value: self.number(operand, frame) for value, operand in incoming.items()})
        for header in frame.code.around[name]:
            if before not in frame.code.cycles[header]:
                frame.rounds[header] = 0
            elif header == name:
                frame.rounds[header] += 1
        frame.block, frame.place = block, 0
        self.note_moment()
        self.kernel.observer.enter(self.lane, block, self.moment, 0)


_SPECIAL: dict[str, Callable[[Thread, CallFrame, Instruction, tuple[int, ...]], tuple[int, ...]]] = {
    "load": Thread.load,
    "store": Thread.store,
    "param": Thread.param,
    "address": Thread.address,
    "query": Thread.query,
    "to_generic": Thread.window,
    "from_generic": Thread.window,
    "unmodeled": Thread.refuse_unknown,
    "lanewise": Thread.library,
    "fence": Thread.nothing,
}
