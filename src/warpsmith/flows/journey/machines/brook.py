"""Brook+ as `lower` writes it, through the reader of Brook+: a launch over a domain of as many elements as there are
threads."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from warpsmith.base.errors import InputError
from warpsmith.base.source import SourceFile
from warpsmith.flows.journey.machines.kernel_ir import run_module
from warpsmith.flows.journey.machines.work import Held, MachineWork, RunCall, by_calls
from warpsmith.flows.journey.reasons import UnableError
from warpsmith.flows.journey.versions import KernelCall
from warpsmith.front.brook.nodes import BrookParameter
from warpsmith.front.brook.read import read_brook
from warpsmith.kernels.arguments import Array
from warpsmith.lower.program import lower
from warpsmith.ssa.nodes import Function
from warpsmith.tree.types import Scalar

__all__ = ["run_brook"]

_BEFORE = "_before"
_BLOCK = (64, 1, 1)
_ROW = "// the out streams are as wide as "


def run_brook(work: MachineWork) -> Mapping[str, Array]:
    """Return what the Brook+ of the kernels leaves."""
    return by_calls(work, lambda kernel: _prepare(work, kernel))


def _prepare(work: MachineWork, kernel: Function) -> RunCall:
    text = work.text(kernel.name, "brook")
    read = read_brook(SourceFile(f"{kernel.name}.br", text))
    if read.findings:
        raise InputError(*read.findings)
    (streams,) = read.kernels.values()
    module = lower(read.program).module
    entry = module.function(streams.definition.name)
    assert entry is not None
    given = streams.definition.parameters
    own = {one.name: _original(one, kernel) for one in given}
    outputs = {one.name: own[one.name] for one in given if one.kind == "out"}
    row = text.partition(_ROW)[2].partition("\n")[0]

    def run(call: KernelCall, held: Held) -> Held:
        width, height = _domain(call, row)
        sizes = {"width": width, "height": height}
        arguments = {name: value.to_bytes(4, "little") for name, value in sizes.items()}
        arguments |= {name: call.launch.arguments[original] for name, original in own.items() if original not in held}
        threads = width * height
        arrays = {one.name: _filled(held[own[one.name]], one, threads) for one in given if own[one.name] in held}
        grid = (-(-width // _BLOCK[0]), height, 1)
        launch = replace(call.launch, grid=grid, block=_BLOCK, arguments=arguments, shared=0)
        left, _ = run_module(module, KernelCall(entry.name, launch, {}), arrays, "compiled")
        return {name: left[stream][: len(held[name])] for stream, name in outputs.items()}

    return run


def _filled(data: bytes, one: BrookParameter, threads: int) -> bytes:
    """Return an array as a stream with an element for each thread: threads behind its end have some of no meaning."""
    if one.kind not in ("out", "stream"):
        return data
    assert isinstance(one.type, Scalar)
    return data + bytes(max(0, threads * one.type.bits // 8 - len(data)))


def _original(one: BrookParameter, kernel: Function) -> str:
    """Return the parameter of a kernel that one of its Brook+ stands for."""
    names = {given.name for given in kernel.parameters}
    bare = one.name.removesuffix(_BEFORE).rstrip("_")
    found = one.name if one.name in names else bare
    if found not in names:
        raise UnableError(f"{one.name} stands for no parameter of {kernel.name}")
    return found


def _domain(call: KernelCall, row: str) -> tuple[int, int]:
    """Return width and height of the out streams; `row`: the parameter that their width is."""
    across, down, deep = (g * b for g, b in zip(call.launch.grid, call.launch.block, strict=True))
    if deep > 1 or (down > 1 and not row):
        raise UnableError("streams of one axis have one element for each thread along x, and the launch has more axes")
    if row and int.from_bytes(call.launch.arguments[row], "little") != across:
        raise UnableError(f"streams are {row} wide, and the launch has {across} threads along x")
    return across, down
