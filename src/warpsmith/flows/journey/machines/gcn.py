"""GCN as `lower` writes it, wave by wave on the machine that reads this text."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from warpsmith.base.source import SourceFile
from warpsmith.flows.journey.machines.work import Held, MachineWork, RunCall, by_calls, placed
from warpsmith.flows.journey.reasons import StoppedError, UnableError
from warpsmith.flows.journey.versions import KernelCall
from warpsmith.kernels.arguments import Array
from warpsmith.simt.gcn.run import run_gcn
from warpsmith.simt.gcn.start import GcnTask
from warpsmith.simt.gcn.text.read import read_gcn
from warpsmith.ssa.nodes import Function

__all__ = ["run_as_gcn"]


def run_as_gcn(work: MachineWork) -> Mapping[str, Array]:
    """Return what the GCN of the kernels leaves."""
    return by_calls(work, lambda kernel: _prepare(work, kernel))


def _prepare(work: MachineWork, kernel: Function) -> RunCall:
    program = read_gcn(SourceFile(f"{kernel.name}.s", work.text(kernel.name, "gcn")))

    def run(call: KernelCall, held: Held) -> Held:
        memory, arguments = placed(call, held)
        launch = replace(call.launch, arguments=arguments)
        outcome = run_gcn(GcnTask(program, program.kernels[0], launch), memory)
        if outcome.stop is not None:
            line = program.instructions[max(0, outcome.stop.index)].span.text.strip()
            if outcome.stop.kind == "budget":
                raise UnableError(f"the run was given up: {outcome.stop.message}: {line}")
            raise StoppedError(f"the run was stopped: {outcome.stop.message}: {line}")
        return {buffer.name: bytes(buffer.data) for buffer in memory.buffers if buffer.name in held}

    return run
