"""The kernels of a subject with their launches in order, whatever they come from.

port       fragment of the plan, in each round of the host's loops    grid by `launched_grid`, arguments by name
by hand    one launch, as the user says it
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from warpsmith.base.progress import ignore_progress
from warpsmith.emit.device.grid import launched_grid
from warpsmith.flows.journey.reasons import UnableError
from warpsmith.flows.journey.subjects import HandLaunch
from warpsmith.flows.port import PortResult
from warpsmith.flows.porting.predicted import launched_name
from warpsmith.flows.simulate import read_kernels
from warpsmith.flows.started import place_launch
from warpsmith.kernels.arguments import Array, make_argument
from warpsmith.kernels.chosen import named_kernel
from warpsmith.kernels.units import KernelFile, KernelUnit
from warpsmith.offload.gain.sizes import Size, Sizes
from warpsmith.simt.launch import Launch
from warpsmith.ssa.nodes import Function
from warpsmith.tree.program import Kernel
from warpsmith.tree.types import Pointer, Scalar

__all__ = ["KernelCall", "TravelInputs", "Version", "hand_version", "make_inputs", "port_version"]

_MOST_STEPS: Final = 50_000_000


class TravelInputs(Struct, frozen=True, eq=False):
    """What a computation begins with: numbers, and arrays by name."""

    numbers: Mapping[str, int]
    arrays: Mapping[str, Array]


class KernelCall(Struct, frozen=True):
    """One launch: `launch` has the bytes of the numbers, `arrays` the name of the array that each pointer gets;
    `texts`: the other arguments as people write them."""

    kernel: str
    launch: Launch
    arrays: Mapping[str, str]
    texts: tuple[str, ...] = ()


class Version(Struct, frozen=True, eq=False):
    """Kernels of a file, and their launches in order. `names`: the kernels as people write them."""

    name: str
    file: KernelFile
    unit: KernelUnit
    calls: tuple[KernelCall, ...]
    names: Mapping[str, str]

    @property
    def kernels(self) -> tuple[Function, ...]:
        """The kernels that are launched, each once."""
        found = (self.unit.module.function(name) for name in dict.fromkeys(call.kernel for call in self.calls))
        return tuple(one for one in found if one is not None)


def make_inputs(values: tuple[str, ...]) -> TravelInputs:
    """Return numbers and arrays from texts; raises UsageError."""
    numbers: dict[str, int] = {}
    arrays: dict[str, Array] = {}
    for name, _, value in (one.partition("=") for one in values):
        if value.isdecimal():
            numbers[name] = int(value)
        else:
            array = make_argument(name, value, numbers).array
            assert array is not None
            arrays[name] = array
    return TravelInputs(numbers, arrays)


def hand_version(name: str, wanted: HandLaunch, values: tuple[str, ...]) -> tuple[Version, TravelInputs]:
    """Return the version of one launch of a kernel, and its inputs; raises InputError and UsageError."""
    unit = read_kernels(wanted.file, ignore_progress)
    kernel, shown = named_kernel(unit, wanted.kernel, wanted.file.path)
    started = place_launch(unit, kernel, values, wanted.block, wanted.grid, shared=wanted.shared, checks=False)
    arrays = {one.name: one.array for one in started.arguments if one.array is not None}
    numbers = {name: data for name, data in started.launch.arguments.items() if name not in arrays}
    launch = Launch(
        started.launch.grid, started.launch.block, numbers, started.launch.shared, started.launch.parts,
        max_steps=_MOST_STEPS, textures=started.launch.textures,
    )  # fmt: skip
    texts = tuple(one for one in values if one.partition("=")[0] not in arrays)
    call = KernelCall(kernel.name, launch, {one: one for one in arrays}, texts)
    return Version(name, wanted.file, unit, (call,), {kernel.name: shown}), TravelInputs({}, arrays)


def port_version(name: str, result: PortResult, inputs: TravelInputs, rounds: tuple[Mapping[str, int], ...]) -> Version:
    """Return the kernels of a port with the launches that its host code makes; raises UnableError where it has none,
    or where its host code does more than launch them. `rounds`: the counters of the loops around them."""
    if result.plan is None or not result.plan.fragments:
        why = next((one.message for one in result.findings if one.severity == "error"), "no loop becomes a kernel")
        raise UnableError(why)
    kernels = [fragment.kernel for fragment in result.plan.fragments]
    if any(one.scans or one.reductions for one in kernels):
        raise UnableError("its kernels combine what threads find, in memory that host code gives them")
    wanted = tuple(launched_name(one, narrow=True) for one in kernels)
    (text,) = (file for file in result.files if file.path.endswith("_kernels.cu"))
    file = KernelFile(text.path, text=text.text, instances=tuple(one for one in wanted if "<" in one))
    unit = read_kernels(file, ignore_progress)
    found = {one.name: named_kernel(unit, shown, file.path) for one, shown in zip(kernels, wanted, strict=True)}
    calls = tuple(
        call
        for counters in rounds
        for one in kernels
        for call in _calls(one, found[one.name][0], {**inputs.numbers, **counters}, inputs)
    )
    return Version(name, file, unit, calls, {function.name: shown for function, shown in found.values()})


def _calls(
    kernel: Kernel, function: Function, numbers: Mapping[str, int], inputs: TravelInputs
) -> Iterator[KernelCall]:
    """Yield the launch of a kernel in one round, if it has threads."""
    sizes = Sizes({p.symbol: Size(numbers[p.host.name]) for p in kernel.parameters if p.host.name in numbers})
    counts = [sizes.value(count) for _, count in kernel.launch]
    threads: dict[str, int] = {
        m.axis: int(c.value) for m, c in zip(kernel.mapped, counts, strict=True) if c is not None
    }
    grid = launched_grid(kernel, threads)
    if grid is None:
        return
    arguments: dict[str, bytes] = {}
    arrays: dict[str, str] = {}
    texts: list[str] = []
    for parameter in kernel.parameters:
        if isinstance(parameter.symbol.type, Pointer) and parameter.host.name in inputs.arrays:
            arrays[parameter.symbol.name] = parameter.host.name
        elif isinstance(parameter.symbol.type, Scalar) and parameter.host.name in numbers:
            arguments[parameter.symbol.name] = _packed(parameter.symbol.type, numbers[parameter.host.name])
            texts.append(f"{parameter.symbol.name}={numbers[parameter.host.name]}")
    for given in function.parameters:
        if given.name not in arguments and given.name not in arrays:
            # where a launch in slices begins
            arguments[given.name] = bytes(given.bytes)
            texts.append(f"{given.name}=0")
    launch = Launch(grid.grid, kernel.block, arguments, max_steps=_MOST_STEPS)
    yield KernelCall(function.name, launch, arrays, tuple(texts))


def _packed(type: Scalar, value: int) -> bytes:
    if type.kind == "float":
        return struct.pack("<f" if type.bits == 32 else "<d", value)
    return value.to_bytes(type.bits // 8, "little", signed=type.kind == "signed")
