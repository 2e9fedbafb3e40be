"""OpenCL kernels run three times: by a driver for the processor (pocl), and as SSA by the interpreter and the compiled
machine.

All get the same bytes, and what they leave in memory must be the same, bit by bit.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from warpsmith.front.inputs import Source
from warpsmith.front.kernels import load_kernels
from warpsmith.front.load import FrontOptions
from warpsmith.lower.program import Lowered, lower
from warpsmith.simt.engine.engine import Checks, order_matters, run, why_refused
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Dim, Launch
from warpsmith.simt.memory import Buffer, LaunchMemory
from warpsmith.ssa.nodes import Module

FLAGS = ("-cl-std=CL1.2", "-cl-fp32-correctly-rounded-divide-sqrt")
EXACT = "#pragma OPENCL FP_CONTRACT OFF\n"
PARAMETERS = (
    "global const int *in, global const float *fin, global int *oi, global float *of, global uint *ou, "
    "global long *ol, global double *od, int n, float s"
)
OUTPUTS = {"oi": 256, "of": 256, "ou": 256, "ol": 512, "od": 512}
GRID: Dim = (2, 1, 1)
BLOCK: Dim = (8, 1, 1)
Argument = bytes | tuple[str, bytes]
"""A scalar's bytes, or the name and the bytes of a buffer."""


class Job(Struct, frozen=True):
    """One launch; `arguments` in the order of the parameters."""

    kernel: str
    grid: Dim
    block: Dim
    arguments: tuple[Argument, ...]


def standard(kernel: str) -> Job:
    """Return the launch of a kernel that has `PARAMETERS`."""
    whole = struct.pack("<80i", *((n * 37 + 11) % 101 for n in range(80)))
    real = struct.pack("<80f", *(((n * 29 + 5) % 64) / 32 - 1 for n in range(80)))
    given: list[Argument] = [("in", whole), ("fin", real)]
    given += [(name, bytes(size)) for name, size in OUTPUTS.items()]
    given += [struct.pack("<i", 13), struct.pack("<f", 1.75)]
    return Job(kernel, GRID, BLOCK, tuple(given))


def driver() -> Any:
    """Return the module of OpenCL's drivers; None where no pocl is."""
    try:
        import pyopencl  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        return None
    try:
        found = [p for p in pyopencl.get_platforms() if "Portable" in p.name and p.get_devices()]
    except pyopencl.Error:
        return None
    return pyopencl if found else None


def driven(cl: Any, text: str, jobs: Sequence[Job]) -> dict[str, dict[str, bytes]]:
    """Return what the buffers of each job hold after pocl has run it."""
    platform = next(p for p in cl.get_platforms() if "Portable" in p.name)
    context = cl.Context(platform.get_devices()[:1])
    queue = cl.CommandQueue(context)
    program = cl.Program(context, EXACT + text).build(options=[*FLAGS, "-w"])
    found = {}
    for job in jobs:
        kernel, buffers = cl.Kernel(program, job.kernel), {}
        for number, argument in enumerate(job.arguments):
            if isinstance(argument, tuple):
                name, content = argument
                flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
                buffers[name] = cl.Buffer(context, flags, hostbuf=bytearray(content)), bytearray(len(content))
                kernel.set_arg(number, buffers[name][0])
            else:
                kernel.set_arg(number, argument)
        size = tuple(g * b for g, b in zip(job.grid, job.block, strict=True))
        cl.enqueue_nd_range_kernel(queue, kernel, size, job.block)
        for buffer, room in buffers.values():
            cl.enqueue_copy(queue, room, buffer)
        queue.finish()
        found[job.kernel] = {name: bytes(room) for name, (_, room) in buffers.items()}
    return found


def interpreted(module: Module, job: Job) -> dict[str, bytes] | str:
    """Return what the buffers hold after the interpreter has run a kernel, or why it cannot."""
    placed = _placed(module, job)
    if isinstance(placed, str):
        return placed
    memory, launch, buffers = placed
    outcome = interpret(module, job.kernel, launch, memory)
    if not outcome.complete:
        return outcome.problems[0].message
    return {name: bytes(buffer.data) for name, buffer in buffers.items()}


def compiled(module: Module, job: Job) -> dict[str, bytes] | None:
    """Return what the buffers hold after machine code has run a kernel; None where it leaves that to the
    interpreter."""
    placed, function = _placed(module, job), module.function(job.kernel)
    if isinstance(placed, str) or function is None:
        return None
    memory, launch, buffers = placed
    if why_refused(module, function, launch) or order_matters(function):
        return None
    if run(module, job.kernel, launch, memory, Checks(uninitialized=False)).why:
        return None
    return {name: bytes(buffer.data) for name, buffer in buffers.items()}


def _placed(module: Module, job: Job) -> tuple[LaunchMemory, Launch, dict[str, Buffer]] | str:
    """Return memory with the arguments of a job, its launch, and its buffers by their names."""
    function = module.function(job.kernel)
    if function is None or not function.blocks:
        return "it is not there"
    memory, arguments, buffers = LaunchMemory(checks=False), {}, {}
    for parameter, argument in zip(function.parameters, job.arguments, strict=True):
        if isinstance(argument, tuple):
            name, content = argument
            buffers[name] = memory.allocate(name, content)
            arguments[parameter.name] = struct.pack("<q", buffers[name].address)
        else:
            arguments[parameter.name] = argument
    return memory, Launch(job.grid, job.block, arguments), buffers


def lowered(text: str, folder: Path, *flags: str) -> Lowered:
    """Return the device code of a text."""
    path = folder / "p.cl"
    path.write_text(text)
    unit = load_kernels(Source(str(path), flags or FLAGS), FrontOptions())
    assert [f"{f.span}: {f.message}" for f in unit.findings if f.severity == "error"] == []
    return lower(unit.program)


def apart(one: Mapping[str, bytes], other: Mapping[str, bytes]) -> list[str]:
    """Return the buffers that differ, with the first place where they do."""
    found = []
    for name, content in one.items():
        places = [n for n, (a, b) in enumerate(zip(content, other[name], strict=True)) if a != b]
        if places:
            at = places[0] & ~3
            found.append(f"{name} at byte {at}: {content[at : at + 8].hex()} and {other[name][at : at + 8].hex()}")
    return found
