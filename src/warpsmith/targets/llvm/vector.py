"""Sixteen threads of a kernel as one function of vectors under masks, for AVX-512.

    if (t < n) a[t] += 1;  else b[t] = 0;        vpcmpltd  k1, zmm(t), zmm(n)
                                                 vpgatherdd zmm0{k1}, …   vpscatterdd …{k1}
                                                 kandnw    k2, k1, (all)  vpscatterdd …{k2}

Blocks run one behind the other, each once, for the lanes that come to it, whatever way; a loop runs while a lane is in
it (simt/engine/kernel.py says how, and by whom it was invented): whole-function vectorization. What the compiled
machine of `simulate` counts and checks is left out.

    k.warp(launch, frame, …, number, threads)   sixteen threads from number × 16 on, up to a barrier or to their end
    run(launch, first, last)                    blocks of the grid, in each of them its warps in turn, from one barrier
                                                to the next; values that live across one are in the frame of the warp

Where lanes exchange, a warp has the 32 lanes that CUDA says, each vector is two registers. A barrier that not all lanes
come to sets STOP.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from llvmlite import ir
from msgspec.structs import asdict

from warpsmith.base.source import Span
from warpsmith.simt.engine.access import Runtime, stop_function
from warpsmith.simt.engine.compile import number_parts
from warpsmith.simt.engine.drivers.driver import Driver
from warpsmith.simt.engine.kernel import KernelWriter
from warpsmith.simt.engine.lanes import I64, POINTER, Ir
from warpsmith.simt.engine.observers.checks import Checks
from warpsmith.simt.engine.words import LaunchWords
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import BasicBlock, Function, Instruction, Memory
from warpsmith.targets.llvm.module import Lines, LlvmModule
from warpsmith.targets.llvm.refused import refuse
from warpsmith.targets.llvm.vector_ops import VectorOps

__all__ = ["VECTOR_PASSES", "VectorCode", "lanes_of_kernel", "write_vectors"]

VECTOR_PASSES: Final = (
    *("sroa", "simplify_cfg", "jump_threading", "simplify_cfg"),
    *("aggressive_dce", "instruction_combine", "aggressive_dce"),
)
"""Where it is known on the way to a branch which way it goes, that is gone; instructions are combined last, so that
indices of 32 bits stay beside their gathers, which take them as they are."""
_LANES: Final = 16
_OF_A_WARP: Final = 32
_EXCHANGES: Final = ("vote", "shuffle", "match", "reduce", "active", "warp_barrier")
_WARP_REGISTERS: Final = ("laneid", "warpid", "nwarpid")
_PLAIN: Final = Checks(lost=False, requests=False, uninitialized=False, races=False)


class VectorCode(LlvmModule, frozen=True, eq=False):
    """A kernel for `lanes` threads at once. `frame`: bytes that a warp needs between barriers; `ops`: what its tables
    hold."""

    lanes: int = _LANES
    frame: int = 0
    ops: VectorOps | None = None


def lanes_of_kernel(function: Function) -> int:
    """Return how many lanes a kernel is written for: those of a register, of a warp where they know of each other."""
    for _, i in function.instructions():
        if i.op in _EXCHANGES or getattr(i.detail, "register", "") in _WARP_REGISTERS:
            return _OF_A_WARP
    return _LANES


def write_vectors(function: Function) -> VectorCode:
    """Return the LLVM IR of a kernel for vectors of lanes; raises InputError with the line that cannot be."""
    if not function.blocks:
        raise refuse(f"{function.name} has no body", function.span)
    blocks = {block.name: block for block in function.blocks}
    for cycle in Graph.of(function).irreducible:
        line = _line_of(blocks[cycle.entries[1]]) or function.span
        raise refuse("control enters this loop in two places: lanes have no place to meet", line, "write it as a loop")
    module = ir.Module(function.name)
    accesses = [i for _, i in function.instructions() if isinstance(i.detail, Memory)]
    ops = VectorOps(**{**asdict(number_parts(function, accesses)), "barriers": [], "asked": [], "calls": []})
    runtime = _Runtime(module, lanes_of_kernel(function))
    writer = _Warp(runtime, function, ops)
    writer.write()
    behind = [writer.ends.behind.get(barrier, 0) for barrier in ops.barriers]
    framed = writer.frame.base is not None
    _Blocks(runtime.emit(), writer.warp, runtime.stop, behind, framed=framed)
    module.globals.move_to_end("stop")
    frame = -(-writer.frame.size // 64) * 64 if framed else 0
    return VectorCode(module, writer.lines.sources, runtime.lanes, frame, ops)


def _line_of(block: BasicBlock) -> Span | None:
    """Return a line of a block."""
    spans = (block.terminator.span, *(i.span for i in block.instructions))
    return next((span for span in spans if span is not None), None)


class _Runtime(Runtime):
    """What a kernel calls: the function that notes that something is wrong."""

    def __init__(self, module: Ir, lanes: int) -> None:
        self.module, self.lanes, self.checks, self.granule, self.gathers = module, lanes, _PLAIN, 4, True
        self.stop = stop_function(self.emit())


class _Warp(KernelWriter):
    """Writes the lanes of a kernel, and nothing that counts or bounds what they do."""

    def declare(self) -> Ir:
        """Return the LLVM function, and take its arguments."""
        e = self.e
        given = [POINTER, POINTER, POINTER, I64, e.mask_type]
        # a name of its own is no register or operator of assemblers
        made = ir.Function(e.module, ir.FunctionType(I64, given), f"{self.function.name}.warp")
        self.state, self.base, self.counters, self.number, self.everyone = made.args
        for argument, name in zip(made.args, ("launch", "frame", "unused", "number", "threads"), strict=True):
            argument.name = name
        self.lines = Lines(self.e.module, self.function, made)
        return made

    def count_visit(self, count: int) -> None:
        """Write nothing."""

    def spend(self, mask: Ir, count: int) -> None:
        """Write nothing."""

    def count_divergence(self, ways: Sequence[Ir], leaves: tuple[bool, Ir]) -> None:
        """Write nothing."""

    def compute_block(self, block: BasicBlock, mask: Ir) -> None:
        """Write what a block does with the lanes of a mask."""
        for phi in block.phis[:1]:
            self.lines.at(self.e, phi.span)
        super().compute_block(block, mask)

    def emit(self, instruction: Instruction) -> Sequence[Ir]:
        """Write one instruction; return its results."""
        self.lines.at(self.e, instruction.span)
        return self.ops.emit(self, instruction)

    def end(self, block: BasicBlock) -> None:
        """Write the terminator."""
        self.lines.at(self.e, block.terminator.span)
        super().end(block)


class _Blocks(Driver):
    """Writes `run`: blocks and warps in turn, without logs and counters."""

    def begin(self, number: Ir) -> None:
        """Write: a warp starts."""
        e = self.e
        for word, value in ((LaunchWords.STATUS, 1), (LaunchWords.WARP_EPOCHS, 0)):
            e.b.store(I64(value), e.b.gep(self.table(word), [number], source_etype=I64))
        if self.framed:
            e.write(self.frame(number), 0, I64(0))

    def call_warp(self, number: Ir) -> Ir:
        """Write the call of the warp function; return the number of the barrier where the warp waits."""
        e, b = self.e, self.e.b
        left = b.sub(e.read(self.state, LaunchWords.THREADS), b.mul(number, I64(e.lanes)))
        threads = b.select(b.icmp_unsigned(">=", left, I64(e.lanes)), I64(e.lanes), left)
        ones = b.lshr(I64(-1), b.sub(I64(64), threads))
        nothing: Any = ir.Constant(POINTER, None)
        given = [self.state, self.frame(number), nothing, number, b.trunc(ones, e.mask_type)]
        waits = b.call(self.warp, given)
        self.leave_if_stopped()
        return waits
