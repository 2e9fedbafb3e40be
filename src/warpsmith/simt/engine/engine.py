"""The door to the compiled machine: it imports LLVM when a kernel is to be run, and not before.

why = refused(module, function, launch)          "" where the kernel is one that it takes
ended = run(module, name, launch, memory)        `why` is Stop.NONE where all went well; else memory is as before
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from warpsmith.base.progress import Progress, unwatched
from warpsmith.simt.engine.apart import Apart
from warpsmith.simt.engine.counts import Counts
from warpsmith.simt.engine.observers.checks import Checks
from warpsmith.simt.engine.support import order_matters, refused
from warpsmith.simt.engine.words import STOPS, State, Stop, new_state
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import Memory
from warpsmith.ssa.nodes import Module

if TYPE_CHECKING:
    from warpsmith.simt.engine.launch import Ended

_STACK: Final = 1 << 12
"""Bytes of stack that an instruction may need: eight vectors of 64 lanes that no register holds."""

__all__ = ["Checks", "Run", "order_matters", "refused", "run"]


class Run(Struct, frozen=True):
    """What came of a run: `why` it was not the compiled machine's to finish, "" where it was; its counters."""

    why: str
    stop: Stop
    counts: Counts


def run(
    module: Module, name: str, launch: Launch, memory: Memory, checks: Checks, *, progress: Progress = unwatched
) -> Run:
    """Run a kernel that is not refused. Where it stops early, `memory` is put back as it was.

    Raises KeyError where there is no such kernel.
    """
    function = module.function(name)
    if function is None:
        raise KeyError(name)
    restore = memory.snapshot()
    state = new_state()

    def work() -> Ended:
        from warpsmith.simt.engine.compile import compiled
        from warpsmith.simt.engine.launch import launched

        return launched(compiled(function, launch.warp, checks), module, launch, memory, state=state, progress=progress)

    def leave() -> None:
        state[State.LEAVE] = 1

    try:
        ended = Apart(work, leave, stack=_STACK * sum(len(b.instructions) for b in function.blocks)).go()
    except BaseException:
        restore()
        raise
    if ended.why is Stop.NONE:
        return Run("", ended.why, ended.counts)
    restore()
    return Run(_said(ended), ended.why, ended.counts)


def _said(ended: Ended) -> str:
    """Return why a launch was stopped, in words."""
    where = f" by thread {ended.thread} of block {ended.block}" if ended.thread >= 0 else ""
    return f"{STOPS[ended.why]}{where}"
