"""The kernels of a subject with their launches in order, whatever they come from.

port       fragment of the plan, in each round of the host's loops    grid by `launched_grid`, arguments by name
by hand    one launch, as the user says it
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from warpsmith.base.progress import ignore_progress
from warpsmith.emit.device.launching.grid import launched_grid
from warpsmith.flows.journey.inputs import TravelInputs
from warpsmith.flows.journey.launches import Values, find_launches, whole_value
from warpsmith.flows.journey.reasons import UnableError
from warpsmith.flows.journey.subjects import HandLaunch, Rounds
from warpsmith.flows.port import PortResult
from warpsmith.flows.porting.predicted import launched_name
from warpsmith.flows.simulate import read_kernels
from warpsmith.flows.started import place_launch
from warpsmith.kernels.chosen import named_kernel
from warpsmith.kernels.units import KernelFile, KernelUnit
from warpsmith.offload.gain.sizes import Size, Sizes
from warpsmith.offload.plan import Fragment
from warpsmith.simt.launch import Launch
from warpsmith.ssa.nodes import Function
from warpsmith.tree.program import Kernel
from warpsmith.tree.types import Pointer, Scalar

__all__ = ["KernelCall", "Version", "hand_version", "port_version"]

_MOST_STEPS: Final = 50_000_000


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


def port_version(name: str, result: PortResult, inputs: TravelInputs, called: tuple[str, Rounds | None]) -> Version:
    """Return the kernels of a port with the launches that its host code makes; raises UnableError where it has none,
    or where its host code does more than launch them. `called`: the function, and the counters of the loops around
    kernels in each turn, None where they are to be found."""
    if result.plan is None or not result.plan.fragments:
        why = next((one.message for one in result.findings if one.severity == "error"), "no loop becomes a kernel")
        raise UnableError(why)
    function, rounds = called
    fragments = [one for one in result.plan.fragments if one.function.symbol.name == function]
    if not fragments:
        raise UnableError(f"no loop of {function} becomes a kernel")
    kernels = [fragment.kernel for fragment in fragments]
    if any(one.scans or one.reductions for one in kernels):
        raise UnableError("its kernels combine what threads find, in memory that host code gives them")
    wanted = tuple(launched_name(one, narrow=True) for one in kernels)
    (text,) = (file for file in result.files if file.path.endswith("_kernels.cu"))
    file = KernelFile(text.path, text=text.text, instances=tuple(one for one in wanted if "<" in one))
    unit = read_kernels(file, ignore_progress)
    found = {one.name: named_kernel(unit, shown, file.path) for one, shown in zip(kernels, wanted, strict=True)}
    launches = _launches(fragments, inputs) if rounds is None else [(one, turn) for turn in rounds for one in kernels]
    calls = tuple(
        call
        for one, values in launches
        for call in _calls(one, found[one.name][0], {**inputs.numbers, **values}, inputs)
    )
    return Version(name, file, unit, calls, {function.name: shown for function, shown in found.values()})


def _launches(fragments: Sequence[Fragment], inputs: TravelInputs) -> list[tuple[Kernel, Mapping[str, int]]]:
    """Return the launches that the function makes with these inputs, with the whole numbers that kernels get, by name;
    raises UnableError where that is not all that host code does for them."""
    function = fragments[0].function
    given = {p: n for p in function.parameters if isinstance(n := inputs.numbers.get(p.name), int)}
    for one in fragments:
        _check_fragment(one, given)
    found: list[tuple[Kernel, Mapping[str, int]]] = []
    for kernel, values in find_launches(function, fragments, given):
        lacking = [p.host.name for p in kernel.parameters if p.host not in values and p.host not in function.parameters]
        if lacking:
            raise UnableError(f"{kernel.name} gets {lacking[0]}, which is no parameter of {function.symbol.name}")
        found.append((kernel, {p.host.name: values[p.host] for p in kernel.parameters if p.host in values}))
    return found


def _check_fragment(fragment: Fragment, given: Values) -> None:
    """Refuse a kernel that needs more of its host code than a launch."""
    if fragment.kernel.turn is not None:
        raise UnableError(f"{fragment.kernel.name} is launched in turns, with memory that host code gives it")
    for one in fragment.assumptions:
        if one.condition is not None and whole_value(one.condition, given) == 0:
            raise UnableError(f"{fragment.kernel.name} is not launched on these numbers: {one.text} does not hold")


def _calls(
    kernel: Kernel, function: Function, numbers: Mapping[str, int | float], inputs: TravelInputs
) -> Iterator[KernelCall]:
    """Yield the launch of a kernel in one round, if it has threads."""
    sizes = Sizes({p.symbol: Size(numbers[p.host.name]) for p in kernel.parameters if p.host.name in numbers})
    counts = [sizes.value(count) for _, count in kernel.launch]
    threads: dict[str, int] = {
        m.axis: int(c.value) for m, c in zip(kernel.mapped, counts, strict=True) if c is not None
    }
    grid = launched_grid(kernel, threads, shared=True)
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
    launch = Launch(grid.grid, grid.block, arguments, max_steps=_MOST_STEPS)
    yield KernelCall(function.name, launch, arrays, tuple(texts))


def _packed(type: Scalar, value: float) -> bytes:
    if type.kind == "float":
        return struct.pack("<f" if type.bits == 32 else "<d", value)
    return (int(value) % (1 << type.bits)).to_bytes(type.bits // 8, "little")
