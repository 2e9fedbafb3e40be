"""SIMULATE of assembly text, a straight line: a program of GCN or AVX-512 goes in; masks and memory come out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

import numpy as np
from msgspec import Struct, field

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile
from warpsmith.flows.simulate import output_rows
from warpsmith.flows.started import place_launch
from warpsmith.kernels.arguments import Argument, make_argument
from warpsmith.kernels.chosen import named_kernel
from warpsmith.kernels.units import KernelUnit
from warpsmith.report.masks.model import MaskReport, MaskStep
from warpsmith.simt.avx512.nodes import LANES
from warpsmith.simt.avx512.operands import ADDRESSES, GENERAL
from warpsmith.simt.avx512.read import read_avx512
from warpsmith.simt.avx512.run import AvxState, begin_avx512, run_avx512
from warpsmith.simt.gcn.nodes import GcnKernel, GcnProgram
from warpsmith.simt.gcn.run import GcnStop, run_gcn
from warpsmith.simt.gcn.start import GcnTask
from warpsmith.simt.gcn.text.read import read_gcn
from warpsmith.simt.launch import Dim, Launch
from warpsmith.simt.memory import Buffer, LaunchMemory
from warpsmith.ssa.nodes import BasicBlock, Function, Module, Parameter, Return
from warpsmith.ssa.types import I32, I64

__all__ = ["AssemblyOptions", "AssemblyTarget", "simulate_assembly"]

AssemblyTarget = Literal["", "gcn", "avx512"]
_KEPT: Final = 100_000
"""Instructions of the wave that is shown, at most."""
_VECTORS: Final = re.compile(r"\b(?:zmm\d|kmov[wd]|kortestw)")
_SCALAR: Final = re.compile(r"s(\d+)|s\[(\d+):(\d+)\]")


class AssemblyOptions(Struct, frozen=True):
    """The options of SIMULATE for assembly text; `target`: whose it is ("": as its registers say); `shown`: block and
    wave whose masks are told; `out`: files for arrays."""

    target: AssemblyTarget = ""
    kernel: str = ""
    block: Dim | None = None
    grid: Dim | None = None
    arguments: tuple[str, ...] = ()
    shared: int = 0
    max_steps: int = 1_000_000_000
    shown: tuple[int, int] = (0, 0)
    out: Mapping[str, str] = field(default_factory=dict)


class _Placed(Struct, frozen=True, eq=False):
    """What is run, with its memory and the arrays in it."""

    task: GcnTask
    memory: LaunchMemory
    arguments: Sequence[Argument]
    buffers: Mapping[str, Buffer]


def simulate_assembly(file: SourceFile, options: AssemblyOptions) -> MaskReport:
    """Run a program, and report; raises InputError where the text is wrong, UsageError where what is asked for makes no
    sense."""
    if options.target == "avx512" or (not options.target and _VECTORS.search(file.text)):
        return _simulate_vectors(file, options)
    # text → program
    program = read_gcn(file)
    # the kernel that is meant, and what it gets
    placed = _place_kernel(file, program, options) if program.kernels else _place_plain(program, options)
    before = {name: bytes(buffer.data) for name, buffer in placed.buffers.items()}
    # the run, wave by wave
    steps: list[MaskStep] = []
    count = [0]

    def watch(block: int, wave: int, index: int, mask: int) -> None:
        if (block, wave) == options.shown:
            count[0] += 1
            if len(steps) < _KEPT:
                span = program.instructions[index].span
                steps.append(MaskStep(span.line, " ".join(span.text.split()), mask))

    outcome = run_gcn(placed.task, placed.memory, watch)
    # what it showed
    launch = placed.task.launch
    waves = launch.blocks * -(-launch.threads // program.wave)
    return MaskReport(
        Path(file.path).name,
        program.architecture or "GCN",
        program.wave,
        waves,
        outcome.steps,
        f"block {options.shown[0]}, wave {options.shown[1]}",
        tuple(steps),
        count[0],
        tuple(output_rows(placed.arguments, placed.buffers, before, options.out)),
        () if outcome.stop is None else (_finding(program, outcome.stop),),
    )


def _simulate_vectors(file: SourceFile, options: AssemblyOptions) -> MaskReport:
    """Run a program of AVX-512, whose mask is k1."""
    # text → program
    program = read_avx512(file)
    # what it begins with: so many lanes, numbered from zmm0 on, and arrays
    lanes = (options.block or (LANES, 1, 1))[0]
    if not 1 <= lanes <= LANES or options.grid is not None:
        message = f"a program of AVX-512 is one wave of at most {LANES} lanes"
        raise UsageError(Finding("INP000", "error", message, help=("leave --grid out; --block 16",)))
    state, arrays, buffers = _place_vectors(options, lanes)
    before = {name: bytes(buffer.data) for name, buffer in buffers.items()}
    # the run
    run = run_avx512(program, state, options.max_steps)
    # what it showed
    spans = [program.instructions[index].span for index, _ in run.masks]
    steps = [
        MaskStep(span.line, " ".join(span.text.split()), mask)
        for span, (_, mask) in zip(spans[:_KEPT], run.masks, strict=False)
    ]
    return MaskReport(
        Path(file.path).name, "AVX-512", LANES, 1, len(run.masks), "k1", tuple(steps), len(run.masks),
        tuple(output_rows(arrays, buffers, before, options.out)), run.findings,
    )  # fmt: skip


def _place_vectors(options: AssemblyOptions, lanes: int) -> tuple[AvxState, list[Argument], dict[str, Buffer]]:
    """Return the state before a program of AVX-512: numbers of lanes, general registers, arrays where they point to."""
    memory = LaunchMemory(checks=False)
    state = begin_avx512(0, lanes)
    state.memory = memory
    arrays: list[Argument] = []
    buffers: dict[str, Buffer] = {}
    for text in options.arguments:
        name, _, value = (part.strip() for part in text.partition("="))
        if name == "zmm0" and value:
            state.zmm[0] += np.uint32(_number(text, value))
        elif name in GENERAL and value:
            state.r[GENERAL.index(name)] = _number(text, value)
        elif name in ADDRESSES and value:
            argument = make_argument(name, value, {})
            if argument.array is None:
                raise _no_register(text)
            buffers[name] = memory.allocate(name, argument.array.tobytes())
            arrays.append(argument)
            state.r[ADDRESSES.index(name)] = buffers[name].address
        else:
            raise _no_register(text)
    return state, arrays, buffers


def _no_register(text: str) -> UsageError:
    message = f"--arg {text}: a program of AVX-512 has the numbers of its lanes in zmm0, and registers"
    helps = ("--arg zmm0=8: they are 8, 9, 10, …", "--arg ecx=3, --arg rdi=iota:u32[64] (an array)")
    return UsageError(Finding("INP000", "error", message, help=helps))


def _place_kernel(file: SourceFile, program: GcnProgram, options: AssemblyOptions) -> _Placed:
    """Return a kernel with the arguments that its metadata name."""
    functions = tuple(_declared(kernel) for kernel in program.kernels)
    unit = KernelUnit(file, Module(functions), (), language="ptx")
    chosen, _ = named_kernel(unit, options.kernel, file.path)
    started = place_launch(
        unit, chosen, options.arguments, options.block, options.grid, shared=options.shared, checks=False
    )
    kernel = next(one for one in program.kernels if one.name == chosen.name)
    launch = Launch(
        started.launch.grid, started.launch.block, started.launch.arguments, started.launch.shared,
        started.launch.parts, max_steps=options.max_steps,
    )  # fmt: skip
    return _Placed(GcnTask(program, kernel, launch), started.memory, started.arguments, started.buffers)


def _declared(kernel: GcnKernel) -> Function:
    """Return a kernel as what its arguments are asked for by; it has a block so that it counts as one with code."""
    sizes = {4: I32, 8: I64}
    parameters = tuple(Parameter(a.name, a.size, min(8, a.size), sizes.get(a.size)) for a in kernel.arguments)
    return Function(kernel.name, True, parameters, (), (BasicBlock("start", (), (), Return()),))


def _place_plain(program: GcnProgram, options: AssemblyOptions) -> _Placed:
    """Return a program without a descriptor: v0 is the thread, arguments are scalar registers."""
    memory = LaunchMemory(checks=False)
    registers: dict[int, int | str] = {}
    arrays: list[Argument] = []
    buffers: dict[str, Buffer] = {}
    for text in options.arguments:
        name, _, value = (part.strip() for part in text.partition("="))
        found = _SCALAR.fullmatch(name)
        if found is None or not value or int(found[1] or found[3]) > 105:
            remedy = "registers: s12=x (the block's number), s4=7; arrays: s[2:3]=zeros:u32[64]"
            message = f"--arg {text}: a program without .amdhsa_kernel has scalar registers"
            raise UsageError(Finding("INP000", "error", message, help=(remedy,)))
        if found[2]:
            argument = make_argument(name, value, {})
            assert argument.array is not None
            buffers[name] = memory.allocate(name, argument.array.tobytes())
            arrays.append(argument)
            low = int(found[2])
            registers |= {low: buffers[name].address & 0xFFFFFFFF, low + 1: buffers[name].address >> 32}
        else:
            registers[int(found[1])] = value if value in ("x", "y", "z") else _number(text, value)
    launch = Launch(
        options.grid or (1, 1, 1), options.block or (program.wave, 1, 1), shared=options.shared,
        max_steps=options.max_steps,
    )  # fmt: skip
    return _Placed(GcnTask(program, None, launch, registers), memory, arrays, buffers)


def _number(text: str, value: str) -> int:
    try:
        return int(value, 0) & 0xFFFFFFFF
    except ValueError:
        message = f"--arg {text}: '{value}' is no number of 32 bits"
        raise UsageError(Finding("INP000", "error", message, help=("x, y, z, 7 or 0x10",))) from None


def _finding(program: GcnProgram, stop: GcnStop) -> Finding:
    who = f"block {stop.block}, wave {stop.wave}" + (f", lane {stop.lane}" if stop.lane >= 0 else "")
    span = program.instructions[max(0, stop.index)].span
    if stop.kind == "budget":
        return Finding("ASM003", "error", f"{who}: {stop.message}", span, ("raise --max-steps, if it is only long",))
    return Finding("ASM002", "error", f"{who}: {stop.message}", span)
