"""Mistakes that the compiled machine stopped at, in the words of the interpreter.

The interpreter reports more: every mistake up to the one that ends the run, and who races with whom. Where it would
take it too long to get there, this is reported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.simt.engine.reading.calls import is_call
from warpsmith.simt.engine.reading.written import may_read_written
from warpsmith.simt.engine.words import STOPS, Stop
from warpsmith.simt.launch import KernelProblem, Launch, ProblemKind
from warpsmith.simt.layout import local_layout, shared_layout
from warpsmith.simt.memory import LOCAL_WINDOW, Fault, LaunchMemory, Where
from warpsmith.simt.thread import DEEPEST
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import BasicBlock, Callee, Function, Instruction, Module
from warpsmith.ssa.nodes import Memory as Access

__all__ = ["Stopped", "may_wait"]

_KINDS: Final[dict[Stop, ProblemKind]] = {
    Stop.BOUNDS: "bounds",
    Stop.ALIGNMENT: "alignment",
    Stop.CONSTANT: "other",
    Stop.BUDGET: "budget",
    Stop.TRAP: "trap",
    Stop.DEPTH: "other",
}
"""What ends a run whoever makes it; of the rest the interpreter sees more (races), or nothing wrong (lanes that meet
late)."""


class Stopped(Struct, frozen=True):
    """Where a run stopped, and why: the block of threads, the thread (-1: not known), the access (`size` bytes at
    `address`) or the call, or the block of the kernel."""

    why: Stop
    block: int
    thread: int
    access: Instruction | None = None
    address: int = 0
    size: int = 0
    at: BasicBlock | None = None

    @property
    def text(self) -> str:
        """Return why, in a few words."""
        where = f" by thread {self.thread} of block {self.block}" if self.thread >= 0 else ""
        return f"{STOPS[self.why]}{where}"

    def problem(self, module: Module, kernel: str, launch: Launch, memory: LaunchMemory) -> KernelProblem | None:
        """Return it as the interpreter would say it, None where that has to look for itself; `memory`: with the
        variables of the module."""
        if self.why not in _KINDS or (self.why is Stop.BOUNDS and self._is_of_call(module, kernel)):
            return None
        message, where = STOPS[self.why], None
        match self.why:
            case Stop.BUDGET:
                message = f"it did not end within {launch.max_steps:,} steps"
            case Stop.BOUNDS:
                message, where = self._outside(module, kernel, launch, memory)
            case Stop.ALIGNMENT if self.access is not None and isinstance(self.access.detail, Access):
                needed = min(self.access.detail.align, 1 << (self.size.bit_length() - 1))
                message = f"the address {self.address:#x} is not a multiple of {needed}, as {self.access.op} needs"
            case Stop.TRAP:
                message = "the kernel traps"
            case Stop.DEPTH if self.access is not None and isinstance(self.access.detail, Callee):
                message = f"{self.access.detail.name} is called more than {DEEPEST} deep"
        return KernelProblem(
            message, self._span(module.function(kernel)), self.block, self.thread, _KINDS[self.why], where
        )

    def _is_of_call(self, module: Module, kernel: str) -> bool:
        """Whether an address may be next to a local array of a call: who made which calls is not known any more."""
        return self.address >= LOCAL_WINDOW and bool(local_layout(module, kernel).stride)

    def _span(self, function: Function | None) -> Span | None:
        """Return the line: of the access, of the block, else of the kernel."""
        places = () if self.at is None else (*self.at.instructions, self.at.terminator)
        spans = [one.span for one in (self.access, *places, function) if one is not None]
        return next((span for span in spans if span is not None), None)

    def _outside(self, module: Module, kernel: str, launch: Launch, memory: LaunchMemory) -> tuple[str, Where | None]:
        """Return what an address is not in, in words, and as a place."""
        shared = shared_layout(module, kernel, launch.shared, launch.parts)
        pieces = (
            memory.piece(f"the shared memory of block {self.block}", "shared", shared),
            memory.piece(f"the local memory of thread {self.thread}", "local", local_layout(module, kernel)),
        )
        try:
            memory.find(self.address, self.size, pieces)
        except Fault as fault:
            return str(fault), fault.where
        return STOPS[self.why], None


def may_wait(
    function: Function,
    at: BasicBlock | None,
    launch: Launch,
    memory: LaunchMemory,
    callees: Sequence[Function] = (),
) -> bool:
    """Whether the loops around a block may wait for what other threads do: they read memory that the kernel is likely
    to write, or meet others. Where they do not, a thread that is in them for long is so by itself, whoever runs it;
    nor where there is no such block, since all that was begun has ended. `memory`: with the module's variables. Of a
    function that is called the loops around its calls are not known: it waits for nobody where none of the `callees`,
    and nothing in the kernel, does."""
    if at is not None and at not in function.blocks:
        called = [i for one in callees for _, i in one.instructions() if not is_call(i)]
        if any(_meets(i) or _reads_shared(i) or i.op == "store" for i in called):
            return True
        inside = [i for _, i in function.instructions() if not is_call(i)]
    else:
        around = Graph.of(function).cycles_around(at.name)[:1] if at is not None else ()
        names = {name for cycle in around for name in cycle.blocks}
        inside = [i for block in function.blocks if block.name in names for i in block.instructions]
    return any(
        _meets(i) or (_reads_shared(i) and may_read_written(function, i, launch, memory.buffers)) for i in inside
    )


def _meets(i: Instruction) -> bool:
    """Whether an instruction meets other threads, or shows what they did."""
    others = ("barrier", "warp_barrier", "vote", "shuffle", "match", "reduce", "active", "call", "unmodeled")
    return i.op in others or i.op.startswith("atomic_")


def _reads_shared(i: Instruction) -> bool:
    """Whether an instruction reads memory that is not its thread's own."""
    return i.op == "load" and isinstance(i.detail, Access) and i.detail.space not in ("local", "constant", "param")
