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
from warpsmith.simt.engine.engine import Checks, run, why_refused
from warpsmith.simt.engine.stopped import Stopped
from warpsmith.simt.engine.words import Stop
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Dim, KernelProblem, Launch, Outcome
from warpsmith.simt.memory import LOCAL_WINDOW, SHARED_WINDOW, AccessConflict, LaunchMemory
from warpsmith.ssa.nodes import Function

__all__ = ["Attempt", "Places", "Planned", "place_of", "try_launch"]

_CHECKS: Final = Checks(lost=False, requests=False, uninitialized=False, quick=True)
_STEPS: Final = 20_000_000
"""Instructions of lanes that compiled code executes at most, a fifth of a second or so."""
_INTERPRETED: Final = 300_000
"""Instructions of lanes that the interpreter executes at most, three seconds."""
_SILENCE: Final = 20_000
"""Instructions of lanes after which the interpreter waits no longer for another conflict."""
_GROWTHS: Final = 40
_BLOCKS: Final = 4
"""Blocks that the interpreter runs before it runs all, to see who conflicts with whom."""


Places = frozenset[str]
"""The two places of a conflict, in the text."""


class Attempt(Struct, frozen=True):
    """How a launch on made up arguments went. `outcome`: what the interpreter saw where something is wrong; None where
    nothing is, or where that could not be seen; `ended`: the whole launch ran to its end without a race."""

    made: Made
    started: StartedLaunch
    outcome: Outcome | None
    ended: bool


class Planned(Struct, frozen=True):
    """How a kernel is launched: `shared`: bytes of dynamic shared memory; `width`: lanes of a warp."""

    unit: KernelUnit
    kernel: Function
    block: Dim
    grid: Dim
    shared: int
    width: int


def place_of(conflict: AccessConflict) -> Places:
    """Return the two places of a conflict."""
    accesses = (conflict.first.instruction, conflict.second.instruction)
    return frozenset(str(getattr(instruction, "span", None)) for instruction in accesses)


def try_launch(planned: Planned, made: Made, expected: AbstractSet[Places] = frozenset()) -> Attempt | None:
    """Return how a launch went whose arrays are long enough; None where there is none. Once all conflicts that are
    `expected` are seen, no others are looked for."""
    for _ in range(_GROWTHS):
        try:
            started = _place(planned, made)
        except UsageError:
            return None
        found = _Launched(planned, made, started, expected).run()
        if isinstance(found, Attempt):
            return found
        longer = _lengthen(made, found)
        if longer is None:
            return None
        made = longer
    return None


def _place(planned: Planned, made: Made) -> StartedLaunch:
    how = planned.block, planned.grid
    return place_launch(planned.unit, planned.kernel, made.texts, *how, shared=planned.shared, width=planned.width)


def _lengthen(made: Made, problem: KernelProblem | None) -> Made | None:
    """Return arguments that may hold what was accessed out of bounds."""
    if problem is None or problem.kind != "bounds" or problem.where is None:
        return None
    name, offset, size = problem.where
    return made.longer(name, offset + size) if offset >= 0 else None


class _Launched(Struct, frozen=True):
    """A launch whose arguments are in memory."""

    planned: Planned
    made: Made
    started: StartedLaunch
    expected: AbstractSet[Places]

    def run(self) -> Attempt | KernelProblem | None:
        """Return how the launch went, or the problem that ended it before anything could be seen."""
        unit, kernel = self.planned.unit, self.planned.kernel
        launch, memory = replace(self.started.launch, max_steps=_STEPS), self.started.memory
        if why_refused(unit.module, kernel, launch):
            return self.interpret(None)
        ran = run(unit.module, kernel.name, launch, memory, _CHECKS)
        if ran.stop is Stop.NONE:
            return Attempt(self.made, self.started, None, ended=True)
        if ran.stop is Stop.RACE:
            return self.find_pair(ran.stopped)
        return ran.problem

    def find_pair(self, stopped: Stopped) -> Attempt | KernelProblem | None:
        """Return the attempt with what the interpreter sees of a race that compiled code met, or the problem that
        comes before it there."""
        for some in _neighbors(stopped, self.started.launch):
            found = self.interpret(some)
            if not isinstance(found, Attempt) or found.outcome is not None:
                return found
        return Attempt(self.made, self.started, None, ended=False)

    def interpret(self, only: Sequence[int] | None) -> Attempt | KernelProblem | None:
        """Return what the interpreter sees of some blocks."""
        memory, _ = self.started.placed(checks=True)
        launch = replace(self.started.launch, max_steps=_INTERPRETED, only=None if only is None else tuple(only))
        enough = _Enough(memory, self.expected)
        outcome = interpret(self.planned.unit.module, self.planned.kernel.name, launch, memory, enough=enough)
        bounds = next((problem for problem in outcome.problems if problem.kind == "bounds"), None)
        if bounds is not None and not outcome.conflicts:
            return bounds
        if outcome.conflicts:
            return Attempt(self.made, self.started, outcome, ended=False)
        return Attempt(self.made, self.started, None, ended=outcome.complete and only is None)


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
