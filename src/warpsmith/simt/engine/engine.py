"""The door to the compiled machine: it imports LLVM when a kernel is to be run, and not before.

why = refused(module, function, launch)          "" where the kernel is one that it takes
ended = run(module, name, launch, memory)        `why` is Stop.NONE where all went well; else memory is as before
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from warpsmith.base.progress import Progress, ignore_progress
from warpsmith.simt.apart import Apart
from warpsmith.simt.engine.counts import EngineCounts
from warpsmith.simt.engine.observers.checks import Checks, Turns
from warpsmith.simt.engine.stopped import Stopped, may_wait
from warpsmith.simt.engine.support import order_matters, why_refused
from warpsmith.simt.engine.words import LaunchWords, Stop, new_state
from warpsmith.simt.launch import KernelProblem, Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.nodes import Module

if TYPE_CHECKING:
    from warpsmith.simt.engine.launch import Ended

_STACK: Final = 1 << 12
"""Bytes of stack that an instruction may need: eight vectors of 64 lanes that no register holds."""

__all__ = ["Checks", "Run", "Turns", "order_matters", "run", "why_refused"]


class Run(Struct, frozen=True):
    """What came of a run: where it `stopped`; its counters up to there. `problem`: what ended it, where that is the
    kernel's doing for certain; where there is none, and `why` is not "", the interpreter has to look."""

    stopped: Stopped
    counts: EngineCounts
    problem: KernelProblem | None = None

    @property
    def stop(self) -> Stop:
        """Return the reason; Stop.NONE where it ran to its end."""
        return self.stopped.why

    @property
    def why(self) -> str:
        """Return the reason in words, "" where it ran to its end."""
        return "" if self.stop is Stop.NONE else self.stopped.text


def forget_counters(_: EngineCounts) -> None:
    """Forget counters."""


def run(
    module: Module,
    name: str,
    launch: Launch,
    memory: LaunchMemory,
    checks: Checks,
    *,
    progress: Progress = ignore_progress,
    rescue: Callable[[EngineCounts], None] = forget_counters,
) -> Run:
    """Run a kernel that is not refused. Where it stops early, `memory` is put back as it was; where that is because
    something is raised meanwhile (a time limit, Ctrl-C), `rescue` gets the counters up to there.

    Raises KeyError where there is no such kernel.
    """
    function = module.function(name)
    if function is None:
        raise KeyError(name)
    restore = memory.snapshot()
    state = new_state()
    partial: list[Ended] = []

    def work() -> Ended:
        from warpsmith.simt.engine.compile import compile_kernel
        from warpsmith.simt.engine.launch import run_launch

        code = compile_kernel(function, launch.warp, checks)
        partial.append(run_launch(code, module, launch, memory, state=state, progress=progress))
        return partial[0]

    def leave() -> None:
        state[LaunchWords.LEAVE] = 1

    try:
        ended = Apart(work, leave, stack=_STACK * sum(len(b.instructions) for b in function.blocks)).go()
    except BaseException:
        restore()
        if partial:
            rescue(partial[0].counts)
        raise
    stopped, problem = ended.stopped, None
    if stopped.why is not Stop.NONE:
        if stopped.why is not Stop.BUDGET or not may_wait(function, stopped.at):
            problem = stopped.problem(module, name, launch, memory)
        restore()
    return Run(stopped, ended.counts, problem)
