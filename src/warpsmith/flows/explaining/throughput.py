"""THROUGHPUT, a straight line: kernels go in, and how many threads a second each GPU finishes of them comes out.

    kernel ──► PTX ──► ptxas: registers, spills    nvdisasm: instructions, loads
       └────► a launch, counted ──► the time model ──► cycles a warp, threads a second, what decides

What nobody says of the launch is a guess: a likely block, a million threads, streams as large as the domain. Where it
is not known which way threads go at a branch they are counted in both arms, so that there are at least so many a
second.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final

from msgspec import Struct

from warpsmith.analysis.counts.prediction import HeldKernel, predict_launch
from warpsmith.analysis.likely_block import likely_blocks
from warpsmith.analysis.resources.resources import CompilerFigures, resources
from warpsmith.analysis.uniformity.facts import Dim, LaunchShape
from warpsmith.base.errors import InputError
from warpsmith.base.findings import Finding
from warpsmith.base.nvidia import find_tool
from warpsmith.kernels.names import shown_names
from warpsmith.kernels.shape import Launching, check_names, shape_of
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.machine.architectures import architecture
from warpsmith.machine.devices import Device, load_devices
from warpsmith.report.throughput.model import GpuThroughput, ThroughputReport, ThroughputRow
from warpsmith.run.native.ptxas import assemble_ptx
from warpsmith.settings.model import Settings
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import Function
from warpsmith.targets.llvm.export import ARCHITECTURES, lower_by_llvm
from warpsmith.targets.llvm.sass import SassCount, count_sass, sass_of

__all__ = ["measure_throughput", "modern_devices"]

_EXTENTS: Final[Mapping[int, Dim]] = {1: (1 << 20, 1, 1), 2: (1 << 10, 1 << 10, 1), 3: (1 << 7, 1 << 7, 1 << 6)}
"""Threads along each axis where nobody says how many, by how many axes a block has."""


class _Compiled(Struct, frozen=True):
    """What NVIDIA's tools say of a kernel for one architecture; `unread`: why they say nothing."""

    figures: CompilerFigures | None = None
    sass: SassCount | None = None
    unread: str = ""


def modern_devices() -> tuple[Device, ...]:
    """Return the GPUs of the list: those that there are texts for, and numbers of what they do in a clock."""
    known = ARCHITECTURES["ptx"]
    return tuple(one for one in load_devices() if one.arch in known and architecture(one.arch) is not None)


def measure_throughput(
    files: Sequence[KernelFile],
    devices: Sequence[Device],
    launching: Launching,
    settings: Settings,
    kernels: Sequence[str] = (),
) -> ThroughputReport:
    """Return the report on kernels of files; `kernels`: patterns of names, of which each has one. What is wrong with a
    file is in its row. Raises UsageError where an argument is named that no kernel has."""
    units = [(file, read_unit(file)) for file in files]
    read = [unit for _, unit in units if not isinstance(unit, Finding)]
    check_names(launching, sorted({p.name for unit in read for f in unit.module.functions for p in f.parameters}))
    rows: list[ThroughputRow] = []
    for file, unit in units:
        errors = (unit,) if isinstance(unit, Finding) else tuple(f for f in unit.findings if f.severity == "error")
        if errors:
            rows.append(ThroughputRow(file.path, "", errors))
        if not isinstance(unit, Finding):
            rows += (_measure(unit, one, name, (devices, launching, settings)) for one, name in _wanted(unit, kernels))
    return ThroughputReport(tuple(rows))


def _wanted(unit: KernelUnit, kernels: Sequence[str]) -> Iterator[tuple[Function, str]]:
    found = [function for function in unit.module.functions if function.kernel and function.blocks]
    names = shown_names([function.name for function in found])
    for one in found:
        if not kernels or any(fnmatchcase(name, glob) for name in (one.name, names[one.name]) for glob in kernels):
            yield one, names[one.name]


def _measure(
    unit: KernelUnit, kernel: Function, name: str, asked: tuple[Sequence[Device], Launching, Settings]
) -> ThroughputRow:
    devices, launching, settings = asked
    said = shape_of(kernel, name, launching, settings, unit.launches.get(kernel.name))
    shape, guessed = _launch(unit, kernel, said)
    graph = Graph.of(kernel)
    # text → what NVIDIA's tools make of it, once for each architecture
    compiled = {arch: _compile(unit, kernel, arch) for arch in dict.fromkeys(device.arch for device in devices)}
    # a launch → its time on each GPU
    assert shape.block is not None and shape.grid is not None
    gpus: list[GpuThroughput] = []
    for device in devices:
        made = compiled[device.arch]
        held = resources((unit.module, kernel, graph), device, shape.block, shape.shared_bytes, made.figures)
        predicted = predict_launch(HeldKernel(unit.module, kernel, device, held), shape, both=True)
        gpus.append(GpuThroughput(device, held.registers, held.spill_bytes, made.sass, made.unread, predicted))
    return ThroughputRow(unit.file.path, name, (), shape.block, shape.grid, guessed, tuple(gpus))


def _launch(unit: KernelUnit, kernel: Function, said: LaunchShape) -> tuple[LaunchShape, tuple[str, ...]]:
    """Return a launch with a block and a grid, and the options that would say what is guessed of it."""
    known, domain = dict(said.arguments), _domain(unit, kernel)
    planar = bool(domain) and any(name.endswith("_width") for name in _extents(unit, kernel, domain))
    block = said.block or kernel.limits.exact_block or _likely(kernel, streams=bool(domain))
    guessed = [] if said.block else ["--block"]
    if said.grid is not None:
        grid = said.grid
    elif domain and all(size in known for size in domain):
        x, y, *layers = (-(-known[size] // threads) for size, threads in zip(domain, block, strict=False))
        grid = x, y, layers[0] if layers else 1
    else:
        guessed.append("--grid")
        axes = max(2, len(domain)) if planar else max(at + 1 for at in range(3) if at == 0 or block[at] > 1)
        x, y, z = (-(-extent // threads) for extent, threads in zip(_EXTENTS[axes], block, strict=True))
        grid = x, y, z
    for axis, size in enumerate(domain):
        known.setdefault(size, block[axis] * grid[axis])
    for name in _extents(unit, kernel, domain):
        known.setdefault(name, known[domain[name.endswith("_height")]])
    return LaunchShape(block, grid, known, said.assumptions, said.shared_bytes), tuple(guessed)


def _likely(kernel: Function, *, streams: bool) -> Dim:
    """Return a likely block: of a kernel over streams a wave of the hardware that it was written for."""
    return (64, 1, 1) if streams else next(likely_blocks(kernel), (256, 1, 1))


def _domain(unit: KernelUnit, kernel: Function) -> tuple[str, ...]:
    """Return the parameters with how many threads a kernel over streams has; nothing for others."""
    if kernel.name in unit.domains:
        return unit.domains[kernel.name].sizes
    names = [parameter.name for parameter in kernel.parameters]
    return ("width", "height") if unit.file.path.lower().endswith(".il") and names[-2:] == ["width", "height"] else ()


def _extents(unit: KernelUnit, kernel: Function, domain: Sequence[str]) -> list[str]:
    """Return the parameters with the sizes of what a kernel over streams gathers from, but for what it reduces."""
    names = [parameter.name for parameter in kernel.parameters]
    ones = unit.domains[kernel.name].rows if kernel.name in unit.domains else {}
    reduced = {name.removesuffix("_height") for name in ones if name not in domain}
    found = [name for name in names if name.rpartition("_")[0] in names and name.endswith(("_width", "_height"))]
    return [name for name in found if domain and name not in domain and name.rpartition("_")[0] not in reduced]


def _compile(unit: KernelUnit, kernel: Function, arch: str) -> _Compiled:
    """Return what NVIDIA's tools say; nothing where they are not installed, or refuse a text."""
    if arch not in ARCHITECTURES["ptx"]:
        return _Compiled(unread=f"there is no text for {arch}")
    missing = [tool for tool in ("ptxas", "nvdisasm") if find_tool(tool) is None]
    if missing:
        return _Compiled(unread=f"{missing[0]} is not installed (warpsmith[cuda] brings it)")
    try:
        text = lower_by_llvm(unit.module, kernel, arch)
        counted = count_sass(sass_of(text, kernel))
    except InputError as error:
        return _Compiled(unread=error.findings[0].message)
    told = assemble_ptx(text.assembly.encode(), arch)
    if isinstance(told, Finding) or not told:
        return _Compiled(unread=told.message if isinstance(told, Finding) else "ptxas says nothing of it")
    return _Compiled(next(iter(told.values())), counted)
