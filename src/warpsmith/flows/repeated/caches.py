"""A launch once more, for what the caches of a GPU make of its requests."""

from __future__ import annotations

from typing import Final

from warpsmith.analysis.resources.resources import resources
from warpsmith.base.progress import Progress
from warpsmith.flows.started import StartedLaunch
from warpsmith.kernels.units import KernelUnit
from warpsmith.machine.architectures import architecture
from warpsmith.machine.devices import Device
from warpsmith.machine.occupancy import occupancy
from warpsmith.report.simulation.model import CacheRow, CacheRun
from warpsmith.simt.caches.fast import run_caches
from warpsmith.simt.caches.model import CacheGeometry, geometry_of
from warpsmith.simt.caches.ordered import trace_launch
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import Function

__all__ = ["run_with_caches"]

_KIB: Final = 1024


def run_with_caches(
    unit: KernelUnit, kernel: Function, started: StartedLaunch, gpu: Device, progress: Progress
) -> CacheRun:
    """Run a launch on memory of its own, and its requests through the caches of a GPU."""
    geometry = _geometry(unit, kernel, started, gpu)
    if isinstance(geometry, str):
        return CacheRun(gpu.title, why=geometry)
    memory = started.place_again()
    requests = trace_launch(unit.module, kernel.name, started.launch, memory, progress)
    if isinstance(requests, str):
        return CacheRun(gpu.title, why=requests)
    buffers = sorted(memory.buffers, key=lambda buffer: buffer.address)
    counts = run_caches(geometry, requests, len(buffers))
    rows = [CacheRow(buffer.name, *map(int, row)) for buffer, row in zip(buffers, counts, strict=True) if row.any()]
    line = geometry.first_ways * 128
    return CacheRun(gpu.title, geometry.resident, geometry.first_sets * line, geometry.second_sets * line, tuple(rows))


def _geometry(unit: KernelUnit, kernel: Function, started: StartedLaunch, gpu: Device) -> CacheGeometry | str:
    """Return the caches as the launch has them: what shared memory of its blocks leaves of the first; why not."""
    known = architecture(gpu.arch)
    if known is None or gpu.vendor != "nvidia":
        return f"the caches of {gpu.title} are not known"
    launch = started.launch
    held = resources((unit.module, kernel, Graph.of(kernel)), gpu, launch.block, started.shared)
    shared = held.shared_bytes + held.dynamic_shared_bytes
    blocks = occupancy(gpu, launch.threads, held.registers, shared).blocks
    if not blocks:
        return f"a block does not fit on a multiprocessor of {gpu.title}"
    first = max(0, known.l1_kib * _KIB - shared * blocks)
    return geometry_of(gpu.units, blocks, first, gpu.l2_mib * _KIB * _KIB)
