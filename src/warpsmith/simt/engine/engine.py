"""The door to the compiled machine: it imports LLVM when a kernel is to be run, and not before.

why = refused(module, function, launch)          "" where the kernel is one that it takes
ended = run(module, name, launch, memory)        `why` is Stop.NONE where all went well; else memory is as before
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.progress import Progress, ignore_progress
from warpsmith.simt.apart import STACK, Apart
from warpsmith.simt.engine.counts import EngineCounts
from warpsmith.simt.engine.observers.checks import Checks, Turns
from warpsmith.simt.engine.reading.calls import called_functions, stack_of
from warpsmith.simt.engine.reading.spinning import spinning_loops
from warpsmith.simt.engine.reading.written import may_read_written
from warpsmith.simt.engine.stopped import Stopped, may_wait
from warpsmith.simt.engine.support import order_matters, shares_order, waits_for_grid, why_refused
from warpsmith.simt.engine.words import Stop
from warpsmith.simt.launch import KernelProblem, Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import BasicBlock, Function, Module

if TYPE_CHECKING:
    from warpsmith.simt.engine.compile import CompiledKernel
    from warpsmith.simt.engine.launch import Ended

PATIENCE: Final = 20_000_000
"""Instructions of lanes of a block after which it seems to wait for others, if it may."""
_SPINS: Final = "blocks wait for each other in loops"

__all__ = ["PATIENCE", "Checks", "Run", "Turns", "order_matters", "run", "waits_for_grid", "why_refused"]


class Run(Struct, frozen=True):
    """What came of a run: where it `stopped`; its counters up to there. `problem`: what ended it, where that is the
    kernel's doing for certain; where there is none, and `why` is not "", the interpreter has to look. `alone`: why one
    thread ran it, where more were offered. `together`: all blocks had their turns, not one after the other."""

    stopped: Stopped
    counts: EngineCounts
    problem: KernelProblem | None = None
    alone: str = ""
    together: bool = False

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
    workers: int = 1,
    progress: Progress = ignore_progress,
    rescue: Callable[[EngineCounts], None] = forget_counters,
) -> Run:
    """Run a kernel that is not refused, on at most `workers` threads; on one where the order of blocks may matter, or
    where `memory` has a trace. Where it stops early, `memory` is put back as it was; where that is because something is
    raised meanwhile (a time limit, Ctrl-C), `rescue` gets the counters up to there.

    Raises KeyError where there is no such kernel.
    """
    function = module.function(name)
    if function is None:
        raise KeyError(name)
    # who waits in a called function cannot give way
    may_give_way = not checks.policy and not called_functions(module, function)
    grid, spins = waits_for_grid(function), may_give_way and bool(spinning_loops(function))
    checks = replace(checks, resident=grid, sliced=grid and spins, traced=memory.trace is not None)
    patience = PATIENCE if spins and not grid else 0
    attempt = _Attempt(module, function, launch, memory, checks, progress, rescue, memory.snapshot(), patience)
    return attempt.run_on(min(workers, launch.blocks) if memory.trace is None else 1)


class _Attempt(Struct, frozen=True):
    """A launch that may be run more than once; `restore` puts its memory back. `patience`: after how many instructions
    a block seems to wait for others, 0 for never."""

    module: Module
    function: Function
    launch: Launch
    memory: LaunchMemory
    checks: Checks
    progress: Progress
    rescue: Callable[[EngineCounts], None]
    restore: Callable[[], None]
    patience: int

    def run_on(self, workers: int) -> Run:
        """Run it on at most so many threads, as often as it takes to know what comes of it."""
        alone = "" if workers == 1 else shares_order(self.function, called_functions(self.module, self.function))
        ended = self.run(1 if alone else workers)
        spins = ended.stopped.why in (Stop.WAITS, Stop.BUDGET) and self.may_spin(ended.stopped.at)
        if spins or ended.stopped.why is Stop.WAITS:
            self.restore()
            return replace(self, patience=0).run_together(workers, spins=spins)
        if workers > 1 and not alone and ended.stopped.why not in (Stop.NONE, Stop.BUDGET):
            # which blocks were run by then is another thing each time, and races may have had any outcome
            alone = ended.stopped.text
            self.restore()
            ended = self.run(1)
        return replace(self.judge(ended), alone=alone)

    def run_together(self, workers: int, *, spins: bool) -> Run:
        """Run all blocks in turn where one seems to wait for others (`spins`), and there is memory for all of them;
        else one after the other, however long it takes."""
        together = replace(self, checks=replace(self.checks, resident=True, sliced=True))
        ended = together.run(1) if spins else None
        if ended is None or ended.stopped.why is Stop.ROOM:
            return self.run_on(workers)
        if ended.stopped.why is Stop.RACE:
            # whoever looks at the race is not to wait for what never comes
            self.restore()
            unchecked = replace(together, checks=replace(together.checks, races=False)).run(1)
            ended = unchecked if unchecked.stopped.why is Stop.BUDGET else ended
        return replace(together.judge(ended), alone=_SPINS if workers > 1 else "")

    def may_spin(self, at: BasicBlock | None) -> bool:
        """Whether a block is in a loop that is left when others have written something, and who waits there has none to
        give way to yet."""
        if not self.patience:
            return False
        function, loops = self.function, spinning_loops(self.function)
        around = Graph.of(function).cycles_around(at.name) if at is not None else ()
        asked = {i for cycle in around for i in loops.get(cycle.header, ())}
        return any(i.op != "load" or may_read_written(function, i, self.launch, self.memory.buffers) for i in asked)

    def run(self, count: int) -> Ended:
        """Run it on so many threads; once more where it wrote what it was guessed to read only."""
        ended = self.run_once(count, guess=True)
        if ended.stopped.why is Stop.WRITTEN:
            self.restore()
            ended = self.run_once(count, guess=False)
        return ended

    def run_once(self, count: int, *, guess: bool) -> Ended:
        """Run it on so many threads; `guess`: which buffers it writes."""
        from warpsmith.simt.engine.launch import Workers, run_launch

        function = self.function
        partial: list[Ended] = []
        callees = called_functions(self.module, function)
        stack = stack_of(function, callees)
        workers = Workers.of(count, STACK + stack, self.progress)
        if self.memory.trace is not None:
            self.memory.trace.empty()
        # on one thread the order is always the same; on several, results depend on it where there are races
        checks = self.checks if count == 1 else replace(self.checks, races=True)

        def improve() -> CompiledKernel:
            from warpsmith.simt.engine.compile import compile_kernel

            return compile_kernel(function, self.launch.warp, replace(checks, quick=False), callees)

        better = improve if checks.quick else None

        def work() -> Ended:
            from warpsmith.simt.engine.compile import compile_kernel

            code = compile_kernel(function, self.launch.warp, checks, callees)
            made = run_launch(
                code,
                self.module,
                self.launch,
                self.memory,
                workers,
                guess=guess,
                patience=self.patience,
                better=better,
            )
            partial.append(made)
            return partial[0]

        try:
            return Apart(work, workers.leave, stack=stack).go()
        except BaseException:
            self.restore()
            if partial:
                self.rescue(partial[0].counts)
            raise

    def judge(self, ended: Ended) -> Run:
        """Return what came of it; where it stopped, memory is put back."""
        stopped, problem = ended.stopped, None
        if stopped.why is not Stop.NONE:
            callees = called_functions(self.module, self.function)
            given = self.function, stopped.at, self.launch, self.memory, callees
            if stopped.why is not Stop.BUDGET or not may_wait(*given):
                problem = stopped.problem(self.module, self.function.name, self.launch, self.memory)
            self.restore()
        return Run(stopped, ended.counts, problem, together=self.checks.resident)
