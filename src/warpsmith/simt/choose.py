"""Which machine runs a kernel: the interpreter, or the compiled one where it is sure to show the same.

    interpreter   where it is asked for, for timelines, and for kernels that the compiled machine does not take
    compiled      where it is asked for
    some warps    the compiled one for what the launch computes, then the interpreter for the blocks that are counted;
                  the interpreter for all where they may depend on each other
    neither said  the interpreter for a short while, which is enough for small launches; then the compiled machine, if
                  what the kernel computes does not depend on the order of its threads

Whatever the compiled machine stops at (a mistake of the kernel, lanes that wait for each other) is the interpreter's to
tell: the memory is put back, and it begins anew. So reports do not depend on who ran. Only where that would take long,
and what ended the run would end any, the machine's own word stands, with what was counted up to there. So it does where
a thread goes on without end, and does so as well where the interpreter gives all threads their turns for a while.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.progress import Progress, ignore_progress
from warpsmith.base.scratch import ask_for_time
from warpsmith.base.time_limit import lift_time_limit
from warpsmith.machine.requests import SECTOR
from warpsmith.simt.counters import BlockCount
from warpsmith.simt.engine.counts import EngineCounts, RequestSum
from warpsmith.simt.engine.engine import Checks, Run, order_matters, run, why_refused
from warpsmith.simt.engine.reading.calls import called_functions
from warpsmith.simt.engine.words import Stop
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import KernelProblem, Launch, Outcome
from warpsmith.simt.memory import LaunchMemory
from warpsmith.simt.selection import Selected, Selection
from warpsmith.simt.tally import Tally, Totals, block_counts, totals
from warpsmith.ssa.nodes import BasicBlock, Module, successors

__all__ = ["AGAIN", "TRIAL", "Done", "Engine", "EngineChoice", "execute"]

Engine = Literal["", "compiled", "interpreter"]
TRIAL: Final = 30_000
"""Instructions of lanes that the interpreter runs before the compiled machine is asked, which takes as long."""


AGAIN: Final = 3_000_000
"""Instructions of lanes after which a mistake that ended a run is not looked at again, which takes half a minute."""
IN_TURN: Final = 1_000_000
"""Instructions of lanes that the interpreter runs to see whether threads wait for each other."""


class EngineChoice(Struct, frozen=True):
    """`engine`: who is asked for, "" for either; `timeline`: every piece that a warp executed is wanted; `order`: where
    blocks stand in the text, for it; `workers`: threads of this computer at most, for compiled code; `selection`: the
    warps that are counted."""

    engine: Engine = ""
    timeline: bool = False
    order: Mapping[BasicBlock, int] | None = None
    workers: int = 1
    selection: Selection = Selection()


class Done(Struct, frozen=True):
    """A run that is over: how it ended, its counters. `pieces` are there after the interpreter only; `note`: why it ran
    where the compiled machine was asked for; `alone`: why on one thread, where several were."""

    outcome: Outcome
    totals: Totals
    blocks: Mapping[BasicBlock, BlockCount]
    requests: Iterable[RequestSum]
    pieces: Tally | None = None
    note: str = ""
    alone: str = ""

    @property
    def branches(self) -> dict[BasicBlock, BlockCount]:
        """The counts of the blocks that lead to others."""
        return {block: count for block, count in self.blocks.items() if count.visits and successors(block.terminator)}


def forget_part(_: Done) -> None:
    """Forget a part of a run."""


def execute(
    module: Module,
    kernel: str,
    launch: Launch,
    memory: LaunchMemory,
    choice: EngineChoice,
    *,
    progress: Progress = ignore_progress,
    rescue: Callable[[Done], None] = forget_part,
) -> Done:
    """Run a kernel on `memory`, whose buffers it changes; raises KeyError where there is no such kernel with code.
    Where something is raised meanwhile (a time limit, Ctrl-C), `rescue` gets what was done by then."""
    wanted = _Wanted(module, kernel, launch, memory, choice, progress, rescue)
    why = wanted.why_refused()
    if why:
        return wanted.run_interpreted(launch.max_steps, why)
    restore = memory.snapshot()
    if not choice.engine:
        done = wanted.run_interpreted(min(TRIAL, launch.max_steps))
        if launch.max_steps <= TRIAL or not any(problem.kind == "budget" for problem in done.outcome.problems):
            return done
        restore()
    checks = Checks(uninitialized=memory.checks, races=memory.checks, quick=True)

    def stop_early(counts: EngineCounts) -> None:
        rescue(_make_done(counts, ()))

    workers = choice.workers
    made = run(module, kernel, launch, memory, checks, workers=workers, progress=progress, rescue=stop_early)
    if not made.why:
        done = replace(_make_done(made.counts, None), alone=made.alone)
        return done if choice.selection.whole else wanted.count_chosen(done, restore)
    if made.problem is not None and made.counts.totals.lane_instructions > AGAIN:
        return replace(_make_done(made.counts, (made.problem,)), alone=made.alone)
    if made.stop is Stop.BUDGET and launch.max_steps > IN_TURN:
        return wanted.take_turns(made, restore)
    return wanted.run_interpreted(launch.max_steps, made.why)


def _make_done(counts: EngineCounts, problems: tuple[KernelProblem, ...] | None) -> Done:
    """Return what the compiled machine did; `problems`: what ended it, None where it came to its end."""
    outcome = Outcome(problems is None, counts.totals.lane_instructions, problems or (), ())
    return Done(outcome, counts.totals, counts.blocks, counts.requests)


class _Wanted(Struct, frozen=True):
    """A run that is to be made."""

    module: Module
    kernel: str
    launch: Launch
    memory: LaunchMemory
    choice: EngineChoice
    progress: Progress
    rescue: Callable[[Done], None]

    def why_refused(self) -> str:
        """Return why the interpreter runs the kernel; "" where it need not."""
        function = self.module.function(self.kernel)
        if function is None or not function.blocks:
            raise KeyError(self.kernel)
        if self.choice.engine == "interpreter":
            return "it is asked for"
        chosen = self.choice.selection
        if self.choice.timeline and chosen.blocks is None:
            return "a timeline shows every step of every lane"
        if not chosen.whole and (chosen.blocks is None or not self.memory.checks):
            return "some warps of each block are counted" if chosen.blocks is None else "races are not looked for"
        ordered = self.choice.engine and chosen.whole
        why = why_refused(self.module, function, self.launch)
        return why or ("" if ordered else order_matters(function, called_functions(self.module, function)))

    def run_interpreted(self, max_steps: int, why: str = "") -> Done:
        """Run the kernel lane by lane."""
        tally, launch = Tally(order=self.choice.order or {}), replace(self.launch, max_steps=max_steps)
        try:
            outcome = self.interpret(launch, tally)
        except BaseException:
            # counters are put together from all pieces of all lanes, which takes a while
            lift_time_limit()
            ask_for_time()
            self.rescue(self._done(Outcome(False, 0, (), ()), tally))
            raise
        note = why if self.choice.engine == "compiled" else ""
        long = self.choice.workers > 1 and outcome.steps > TRIAL
        alone = f"it was interpreted, since {why}" if long and not note else ""
        return replace(self._done(outcome, tally), note=note, alone=alone)

    def take_turns(self, made: Run, restore: Callable[[], None]) -> Done:
        """Return the run in which threads take turns, where it ends, or shows a mistake: some seem to wait for others
        in the one that was `made`, a block after the other. Else that one is returned. `restore` puts the memory
        back."""
        done = self.run_interpreted(IN_TURN, made.why)
        if done.outcome.conflicts or {problem.kind for problem in done.outcome.problems} != {"budget"}:
            return done
        restore()
        problem = made.stopped.problem(self.module, self.kernel, self.launch, self.memory)
        assert problem is not None
        order = "all blocks in turn" if made.together else "one block after the other"
        message = f"{problem.message} of {order}, nor within {IN_TURN:,} of threads in turn"
        return replace(_make_done(made.counts, (replace(problem, message=message),)), alone=made.alone)

    def _done(self, outcome: Outcome, tally: Tally) -> Done:
        """Return what was interpreted."""
        sums, blocks, requests = totals(tally, self.launch.warp), block_counts(tally), list(_requests(tally))
        return Done(outcome, sums, blocks, requests, tally)

    def interpret(self, launch: Launch, tally: Tally) -> Outcome:
        """Run the kernel lane by lane; the warps that are chosen are counted."""
        chosen = self.choice.selection
        observer = tally if chosen.whole else Selected(chosen, tally)
        return interpret(self.module, self.kernel, launch, self.memory, observer, progress=self.progress)

    def count_chosen(self, done: Done, restore: Callable[[], None]) -> Done:
        """Return a run that has ended, with the counters of the chosen blocks alone. None depends on another one: no
        race was found, and no order matters. `restore` puts the memory back; it is in the end as it is now."""
        held = [(bytes(buffer.data), bytes(buffer.known)) for buffer in self.memory.buffers]
        restore()
        tally = Tally(order=self.choice.order or {})
        outcome = self.interpret(replace(self.launch, only=self.choice.selection.blocks), tally)
        if not outcome.complete:
            restore()
            return self.run_interpreted(self.launch.max_steps, "blocks that are chosen do not end by themselves")
        # variables of the module come behind the arguments, at the same places
        for buffer, (data, known) in zip(self.memory.buffers, held, strict=True):
            buffer.data[:], buffer.known[:] = data, known
        part = self._done(done.outcome, tally)
        return replace(part, alone=done.alone)


def _requests(tally: Tally) -> Iterator[RequestSum]:
    """Yield each request as a sum of one."""
    for one in tally.requests():
        moves = one.space in ("global", "local")
        wanted = {byte for address in one.addresses.values() for byte in range(address, address + one.bytes)}
        yield RequestSum(
            place=one.place,
            space=one.space,
            address=next(iter(one.addresses.values())),
            requests=1,
            lanes=len(one.addresses),
            sectors=one.sectors if moves else 0,
            ideal=-(-len(wanted) // SECTOR) if moves else 0,
            conflicts=one.ways - 1 if one.space == "shared" else 0,
        )
