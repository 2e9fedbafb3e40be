"""PTX as `lower` writes it, through the reader of PTX, run on the SIMT machine; parameters go by their order."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from warpsmith.base.errors import InputError
from warpsmith.base.source import SourceFile
from warpsmith.flows.journey.machines.kernel_ir import run_module
from warpsmith.flows.journey.machines.work import Held, MachineWork, RunCall, by_calls
from warpsmith.flows.journey.versions import KernelCall
from warpsmith.front.ptx.read import read_ptx
from warpsmith.kernels.arguments import Array
from warpsmith.ssa.nodes import Function

__all__ = ["run_ptx"]


def run_ptx(work: MachineWork) -> Mapping[str, Array]:
    """Return what the PTX of the kernels leaves."""
    return by_calls(work, lambda kernel: _prepare(work, kernel))


def _prepare(work: MachineWork, kernel: Function) -> RunCall:
    module, findings = read_ptx(SourceFile(f"{kernel.name}.ptx", work.text(kernel.name, "ptx")))
    if findings:
        raise InputError(*findings)
    (entry,) = (one for one in module.functions if one.kernel)
    own = {given.name: read.name for given, read in zip(kernel.parameters, entry.parameters, strict=True)}
    back = {read: given for given, read in own.items()}

    def run(call: KernelCall, held: Held) -> Held:
        arguments = {own[name]: data for name, data in call.launch.arguments.items() if name in own}
        launch = replace(call.launch, arguments=arguments, max_steps=20 * call.launch.max_steps)
        left, _ = run_module(
            module, KernelCall(entry.name, launch, {}), {own[name]: held[name] for name in held}, "compiled"
        )
        return {back[name]: data for name, data in left.items()}

    return run
