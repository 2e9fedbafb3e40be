"""AMD IL as `lower` writes it, through the reader of IL, run on the SIMT machine; where arguments are is as its head
says."""

from __future__ import annotations

from array import array
from collections.abc import Mapping

from msgspec.structs import replace

from warpsmith.base.source import SourceFile
from warpsmith.flows.journey.machines.kernel_ir import run_module
from warpsmith.flows.journey.machines.work import Held, MachineWork, RunCall, by_calls, launch_words
from warpsmith.flows.journey.versions import KernelCall
from warpsmith.front.il.code import KERNEL, translate_il
from warpsmith.front.il.read import parse_il
from warpsmith.kernels.arguments import Array
from warpsmith.ssa.nodes import Function
from warpsmith.targets.il.writing.export import write_il

__all__ = ["run_il"]


def run_il(work: MachineWork) -> Mapping[str, Array]:
    """Return what the programs of the kernels leave."""
    return by_calls(work, lambda kernel: _prepare(work, kernel))


def _prepare(work: MachineWork, kernel: Function) -> RunCall:
    module = translate_il(parse_il(SourceFile(f"{kernel.name}.il", work.text(kernel.name, "il"))))
    written = write_il(work.version.unit.module, kernel)

    def run(call: KernelCall, held: Held) -> Held:
        views = {f"uav{number}": held[name] for name, number in written.views.items()}
        if written.words:
            words = [*launch_words(written.words, call)]
            views["cb0"] = array("I", words + [0] * (-len(words) % 4)).tobytes()
        launch = replace(call.launch, arguments={}, shared=0, max_steps=20 * call.launch.max_steps)
        left, _ = run_module(module, KernelCall(KERNEL, launch, {}), views, "compiled")
        return {name: left[f"uav{number}"] for name, number in written.views.items()}

    return run
