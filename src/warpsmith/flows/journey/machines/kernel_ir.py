"""The kernel IR itself: by the interpreter, lane by lane, or by the compiled machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from warpsmith.flows.journey.machines.work import Held, MachineWork, RunCall, by_calls, placed
from warpsmith.flows.journey.reasons import StoppedError, UnableError
from warpsmith.flows.journey.versions import KernelCall
from warpsmith.kernels.arguments import Array
from warpsmith.simt.choose import Done, Engine, EngineChoice, execute
from warpsmith.ssa.nodes import Function, Module

__all__ = ["run_compiled", "run_interpreted", "run_module"]

_INTERPRETED: Final = 2_000_000
"""Instructions of lanes of one launch that are interpreted at most, which takes about ten seconds."""


def run_interpreted(work: MachineWork) -> Mapping[str, Array]:
    """Return what the interpreter leaves; raises UnableError where that would take minutes."""
    return by_calls(work, lambda kernel: _run_with(work, kernel, "interpreter"))


def run_compiled(work: MachineWork) -> Mapping[str, Array]:
    """Return what machine code leaves; raises UnableError where the interpreter would have to run it."""
    return by_calls(work, lambda kernel: _run_with(work, kernel, "compiled"))


def _run_with(work: MachineWork, kernel: Function, engine: Engine) -> RunCall:
    most = _INTERPRETED if engine == "interpreter" else 1 << 62

    def run(call: KernelCall, held: Held) -> Held:
        call = replace(call, launch=replace(call.launch, max_steps=min(most, call.launch.max_steps)))
        left, done = run_module(work.version.unit.module, call, held, engine)
        if done.note:
            raise UnableError(f"{work.version.names[kernel.name]}: {done.note}")
        return left

    return run


def run_module(module: Module, call: KernelCall, held: Held, engine: Engine = "") -> tuple[Held, Done]:
    """Return what a launch leaves in its arrays, and what it did; raises UnableError where it takes
    too long, StoppedError where it does what it must not."""
    memory, arguments = placed(call, held)
    launch = replace(call.launch, arguments=arguments)
    done = execute(module, call.kernel, launch, memory, EngineChoice(engine))
    if not done.outcome.complete:
        last = done.outcome.problems[-1]
        if last.kind in ("budget", "unmodeled"):
            raise UnableError(f"the run was given up: {last.message}")
        raise StoppedError(f"the run was stopped: {last.message}")
    return {buffer.name: bytes(buffer.data) for buffer in memory.buffers if buffer.name in held}, done
