"""Ports counted by runs on the SIMT machine, beside what the model says of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from warpsmith.emit.host.cuda import emit_kernels
from warpsmith.flows.optimizing.setting import PlannedPort
from warpsmith.flows.porting.predicted import list_launches
from warpsmith.flows.simulate import SimulateOptions, simulate
from warpsmith.kernels.units import KernelFile
from warpsmith.report.simulation.model import SimulationReport
from warpsmith.tree.program import Kernel
from warpsmith.tree.shared import restore_shared
from warpsmith.tree.types import Array, Pointer, Record, Scalar, Type, byte_size

__all__ = ["Ran", "run_port"]


class Ran(Struct, frozen=True):
    """Sums over all launches of a port: sectors of global memory and passes of shared memory, requests of constant
    memory, instructions and accesses of warps; launches, and bytes copied."""

    sectors: float = 0.0
    passes: float = 0.0
    constant: float = 0.0
    instructions: float = 0.0
    requests: float = 0.0
    launches: float = 0.0
    copied: float = 0.0


def run_port(planned: PlannedPort, folder: Path, elements: int) -> Ran:
    """Return the counters of one run of a port whose arrays have so many elements, of random numbers."""
    program = planned.prepared.original.program
    files = emit_kernels(program, restore_shared(program, planned.port.program))
    text = "\n".join(one.text for one in files)
    found = dict.fromkeys(Ran.__struct_fields__, 0.0)
    for fragment in planned.port.plan.fragments:
        kernel = fragment.kernel
        for (grid, sizes), times in list_launches(kernel, planned.estimate.kernels[kernel.name]).items():
            arguments = tuple(_arguments(kernel, dict(sizes), elements))
            for turn in range(kernel.turns if times else 0):
                turns = () if kernel.turn is None else (f"{kernel.turn.name}={turn}",)
                shape = grid.block, grid.grid
                options = SimulateOptions(f"{kernel.name}_kernel", *shape, (*arguments, *turns), checks=())
                ran = simulate(KernelFile("kernels.cu", text=text, arguments=("-arch=sm_80",)), options)
                assert ran.status == "ok" and ran.work is not None, ran.diagnostics
                for name, count in _counts(ran).items():
                    found[name] += times * grid.slices * count
    return Ran(**found | {"launches": planned.estimate.launches, "copied": planned.estimate.bytes})


def _counts(ran: SimulationReport) -> dict[str, float]:
    assert ran.work is not None
    rows = ran.memory
    return {
        "sectors": sum(row.sectors for row in rows if row.space == "global"),
        "passes": sum(row.requests + row.bank_conflicts for row in rows if row.space == "shared"),
        "constant": sum(row.requests for row in rows if row.space == "constant"),
        "instructions": ran.work.warp_instructions,
        "requests": sum(row.requests for row in rows),
    }


def _arguments(kernel: Kernel, sizes: dict[str, int], elements: int) -> Iterator[str]:
    in_constant_memory = {symbol for symbol, _ in kernel.constants}
    for parameter in kernel.parameters:
        if parameter.symbol in in_constant_memory:
            continue
        name = parameter.symbol.name
        if parameter.kind == "value":
            yield f"{name}={sizes.get(name, 1.5)}"
        else:
            element, several = _element(parameter.symbol.type)
            yield f"{name}=rand:{element}[{several * elements}]"
    yield from (f"first_{axis}=0" for axis in kernel.sliced)


def _element(type: Type) -> tuple[str, int]:
    """Return what an array has, and how many of these an element is: of structs, floats."""
    while isinstance(type, Array | Pointer):
        type = type.of if isinstance(type, Array) else type.to
    if isinstance(type, Record):
        return "f32", (byte_size(type) or 0) // 4
    assert isinstance(type, Scalar), type
    return f"{'f' if type.kind == 'float' else 'i'}{type.bits}", 1
