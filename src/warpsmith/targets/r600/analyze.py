"""A program of IL on GPUs with bundles: how many bundles, cycles, threads a second.

program ─► expand ─► gather ─► schedule ─► allocate ─► code          for each generation once
                               bundles, fetches ─► cycles, threads/s  for each GPU of it
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from msgspec import Struct

from warpsmith.front.il.nodes import IlProgram
from warpsmith.machine.vliw.gpus import VliwGpu
from warpsmith.machine.vliw.slots import Generation
from warpsmith.machine.vliw.throughput import cycles_of, mega_threads
from warpsmith.targets.r600.allocate import allocate
from warpsmith.targets.r600.arithmetic import R600
from warpsmith.targets.r600.code import R600Code
from warpsmith.targets.r600.division import Expansion
from warpsmith.targets.r600.expand import VIEWS, expand
from warpsmith.targets.r600.groups import gather
from warpsmith.targets.r600.operations import Values
from warpsmith.targets.r600.schedule import schedule

__all__ = ["GpuFigures", "IlFigures", "VliwCode", "analyze_il", "can_run", "compile_il"]


class VliwCode(Struct, frozen=True):
    """A program for one generation; `bound`: there is none with fewer bundles; `operations`: how many slots are used;
    `divides`: how unsigned numbers are divided, "" where none are."""

    generation: Generation
    code: R600Code
    bound: int
    operations: int
    divides: Expansion | None

    @property
    def shortest(self) -> bool:
        """Whether no schedule has fewer bundles."""
        return self.code.bundles == self.bound


class GpuFigures(Struct, frozen=True):
    """What a GPU does at best: cycles of a thread (of 16 units), millions of threads a second."""

    gpu: VliwGpu
    cycles: Fraction
    mega_threads: float


class IlFigures(Struct, frozen=True):
    """A program on several GPUs, and its code for each generation among them; `without`: GPUs that cannot run it."""

    codes: dict[Generation, VliwCode]
    gpus: tuple[GpuFigures, ...]
    without: tuple[VliwGpu, ...] = ()


def compile_il(program: IlProgram, generation: Generation, expansion: Expansion = "one-sided") -> VliwCode:
    """Return the bundles of a program; raises RefusedError where it has control flow. Cayman has no reciprocal of whole
    numbers that is known to round towards zero: there division corrects both ways."""
    if generation == "cayman" and expansion in ("one-sided", "plain"):
        expansion = "two-sided"
    values = Values()
    graph = expand(program, R600(values, generation, expansion))
    groups = gather(graph, values)
    made = schedule(groups, generation)
    divides = any(one.op.name in ("udiv", "umod") for one in program.instructions)
    code = allocate(groups, made, generation)
    return VliwCode(generation, code, made.bound, len(groups.operations), expansion if divides else None)


def analyze_il(program: IlProgram, gpus: Iterable[VliwGpu], expansion: Expansion = "one-sided") -> IlFigures:
    """Return the figures of a program on GPUs; raises RefusedError where they cannot be had."""
    codes: dict[Generation, VliwCode] = {}
    found: list[GpuFigures] = []
    every = tuple(gpus)
    able = tuple(gpu for gpu in every if can_run(program, gpu.generation))
    for gpu in able or every:
        made = codes.get(gpu.generation)
        if made is None:
            made = codes[gpu.generation] = compile_il(program, gpu.generation, expansion)
        cycles = cycles_of(made.code.bundles, made.code.fetches, gpu.units, gpu.texture_units)
        found.append(GpuFigures(gpu, cycles, mega_threads(cycles, gpu.clock_mhz)))
    return IlFigures(codes, tuple(found), tuple(gpu for gpu in every if gpu not in able))


def can_run(program: IlProgram, generation: Generation) -> bool:
    """Whether a generation has the memory that a program uses."""
    return generation in VIEWS or not program.uavs
