"""One launch on made up arguments: the compiled machine says whether anything goes wrong, the interpreter says what.

An access behind the end of an array that was made up makes the array longer; the launch begins again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.base.errors import UsageError
from warpsmith.flows.started import StartedLaunch, place_launch
from warpsmith.flows.witness.made import Made
from warpsmith.kernels.units import KernelUnit
from warpsmith.simt.engine.counts import EngineCounts
from warpsmith.simt.engine.engine import Checks, run, why_refused
from warpsmith.simt.engine.stopped import Stopped
from warpsmith.simt.engine.words import Stop
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Dim, KernelProblem, Launch, Outcome, ProblemKind
from warpsmith.simt.layout import shared_layout
from warpsmith.simt.memory import LOCAL_WINDOW, SHARED_WINDOW, AccessConflict, LaunchMemory
from warpsmith.ssa.nodes import BasicBlock, Function, Instruction

__all__ = [
    "FIGURES",
    "INTERPRETED",
    "RACES",
    "SHARED",
    "STEPS",
    "Attempt",
    "FailedLaunch",
    "Places",
    "Planned",
    "place_of",
    "try_launch",
]

RACES: Final = Checks(lost=False, requests=False, uninitialized=False, quick=True)
"""What is looked at where races are looked for."""
FIGURES: Final = Checks(lost=False, uninitialized=False, races=False, quick=True)
"""What is looked at where requests are counted."""
STEPS: Final = 20_000_000
"""Instructions of lanes that compiled code executes at most, a fifth of a second or so."""
INTERPRETED: Final = 300_000
"""Instructions of lanes that the interpreter executes at most, three seconds."""
_SILENCE: Final = 20_000
"""Instructions of lanes after which the interpreter waits no longer for another conflict."""
_SEEN: Final[tuple[ProblemKind, ...]] = ("uninitialized", "overflow")
"""Problems that end no run."""
_BLOCKS: Final = 4
"""Blocks that the interpreter runs before it runs all, to see who conflicts with whom."""


Places = frozenset[str]
"""The two places of a conflict, in the text."""


SHARED: Final = "the shared memory"
"""How the names of what blocks have begin."""


class Attempt(Struct, frozen=True):
    """How a launch on made up arguments went. `outcome`: what the interpreter saw where threads race, None where none
    do; `differing`: the pairs of instructions that do, other than by storing what is there already; `counts`: what
    compiled code counted, where that ran to its end."""

    made: Made
    started: StartedLaunch
    outcome: Outcome | None
    differing: frozenset[tuple[object, object]] = frozenset()
    counts: EngineCounts | None = None


class FailedLaunch(Struct, frozen=True):
    """A launch of which nothing was seen: the `problem` that ended it, in the run or before it; `at`: the block of the
    kernel where it was then, `access`: the one that it made, where these are known; `interpreted`: lane by lane;
    `shared`: bytes of dynamic shared memory that it had."""

    problem: KernelProblem
    at: BasicBlock | None = None
    interpreted: bool = False
    made: Made | None = None
    access: Instruction | None = None
    shared: int = 0


class Planned(Struct, frozen=True):
    """How a kernel is launched: `shared`: bytes of dynamic shared memory, which may become `most` where nobody gives
    them; `width`: lanes of a warp; `checks`: what is looked at."""

    unit: KernelUnit
    kernel: Function
    block: Dim
    grid: Dim
    shared: int
    width: int
    most: int = 0
    checks: Checks = RACES


def place_of(conflict: AccessConflict) -> Places:
    """Return the two places of a conflict."""
    accesses = (conflict.first.instruction, conflict.second.instruction)
    return frozenset(str(getattr(instruction, "span", None)) for instruction in accesses)


def try_launch(planned: Planned, made: Made, expected: AbstractSet[Places] = frozenset()) -> Attempt | FailedLaunch:
    """Return how a launch went whose arrays are long enough, or why there is none. Once all conflicts that are
    `expected` are seen, no others are looked for."""
    while True:
        try:
            started = _place(planned, made)
        except UsageError as error:
            return _fail(error.findings[0].message)
        found = _Launched(planned, made, started, expected).run()
        longer = _lengthen(planned, made, found.problem, started) if isinstance(found, FailedLaunch) else None
        if longer is None:
            return replace(found, made=made, shared=started.dynamic) if isinstance(found, FailedLaunch) else found
        planned, made = longer


def _place(planned: Planned, made: Made) -> StartedLaunch:
    how = planned.block, planned.grid
    return place_launch(planned.unit, planned.kernel, made.texts, *how, shared=planned.shared, width=planned.width)


def _lengthen(
    planned: Planned, made: Made, problem: KernelProblem, started: StartedLaunch
) -> tuple[Planned, Made] | None:
    """Return a launch whose arrays, or whose dynamic shared memory, may hold what was accessed out of bounds."""
    if problem.kind != "bounds" or problem.where is None or problem.where[1] < 0:
        return None
    name, offset, size = problem.where
    longer = made.longer(name, offset + size)
    if longer is not None:
        return planned, longer
    if name.startswith(SHARED) and started.launch.parts:
        layout = shared_layout(planned.unit.module, planned.kernel.name, started.dynamic, started.launch.parts)
        part = layout.near(offset)
        longer = None if part is None else made.longer(part.name, offset + size - part.start)
        return None if longer is None else (planned, longer)
    start = shared_layout(planned.unit.module, planned.kernel.name).end
    needed = offset + size - start
    if not name.startswith(SHARED) or offset < start or not planned.shared < needed <= planned.most:
        return None
    return replace(planned, shared=min(planned.most, 1 << max(7, (needed - 1).bit_length() + 1))), made


class _Launched(Struct, frozen=True):
    """A launch whose arguments are in memory."""

    planned: Planned
    made: Made
    started: StartedLaunch
    expected: AbstractSet[Places]

    def run(self) -> Attempt | FailedLaunch:
        """Return how the launch went, or the problem that ended it before anything could be seen."""
        unit, kernel = self.planned.unit, self.planned.kernel
        launch, memory = replace(self.started.launch, max_steps=STEPS), self.started.memory
        if why := why_refused(unit.module, kernel, launch):
            return self.interpret(None) if self.planned.checks.races else _fail(why)
        ran = run(unit.module, kernel.name, launch, memory, self.planned.checks)
        if ran.stop is Stop.NONE:
            return Attempt(self.made, self.started, None, counts=ran.counts)
        if ran.stop is Stop.RACE:
            return self.find_pair(ran.stopped)
        kind: ProblemKind = "budget" if ran.stop is Stop.BUDGET else "other"
        problem = ran.problem or KernelProblem(ran.why, None, ran.stopped.block, ran.stopped.thread, kind)
        return FailedLaunch(problem, ran.stopped.at, access=ran.stopped.access)

    def find_pair(self, stopped: Stopped) -> Attempt | FailedLaunch:
        """Return the attempt with what the interpreter sees of a race that compiled code met, or the problem that
        comes before it there."""
        for some in _neighbors(stopped, self.started.launch):
            found = self.interpret(some)
            if isinstance(found, FailedLaunch) or found.outcome is not None:
                return found
        span = None if stopped.access is None else stopped.access.span
        return FailedLaunch(
            KernelProblem("a race of it is not seen again lane by lane", span, stopped.block, stopped.thread)
        )

    def interpret(self, only: Sequence[int] | None) -> Attempt | FailedLaunch:
        """Return what the interpreter sees of some blocks; where it does not see them end, that is no failure, but
        nothing was seen either."""
        memory, _ = self.started.placed(checks=True)
        launch = replace(self.started.launch, max_steps=INTERPRETED, only=None if only is None else tuple(only))
        enough = _Enough(memory, self.expected)
        outcome = interpret(self.planned.unit.module, self.planned.kernel.name, launch, memory, enough=enough)
        if outcome.conflicts:
            return Attempt(self.made, self.started, outcome, frozenset(memory.differing))
        ended = next((problem for problem in outcome.problems if problem.kind not in _SEEN), None)
        if ended is not None and (only is None or ended.kind == "bounds"):
            return FailedLaunch(ended, interpreted=True)
        return Attempt(self.made, self.started, None)


def _fail(why: str) -> FailedLaunch:
    return FailedLaunch(KernelProblem(why, None, 0, 0))


class _Enough(Struct):
    """Whether nothing new is to be expected of a run: all conflicts that are `expected` came, or none for long."""

    memory: LaunchMemory
    expected: AbstractSet[Places]
    seen: set[Places] = field(default_factory=set)
    known: int = 0
    since: int = 0

    def __call__(self, steps: int) -> bool:
        """Return it, after so many steps."""
        conflicts = self.memory.conflicts
        if len(conflicts) > self.known:
            self.seen |= {place_of(one) for one in conflicts[self.known :]}
            self.known, self.since = len(conflicts), steps
        if self.expected and self.expected <= self.seen:
            return True
        return bool(conflicts) and steps - self.since > _SILENCE


def _neighbors(stopped: Stopped, launch: Launch) -> Iterator[Sequence[int]]:
    """Yield blocks to run together: the one that met a race, alone where that is in its own memory, then with those
    before it, of which one may be the other."""
    block = stopped.block
    if SHARED_WINDOW <= stopped.address < LOCAL_WINDOW or not block:
        yield (block,)
    if block:
        yield (0, block) if block == 1 else tuple(sorted({0, block - 1, block}))
        across = launch.grid[0]
        if across > 1 and block >= across:
            yield (block - across, block)
        yield tuple(range(max(0, block + 1 - _BLOCKS), block + 1))
    if block >= _BLOCKS:
        yield tuple(range(block + 1))
