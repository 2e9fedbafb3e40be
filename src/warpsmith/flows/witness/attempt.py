"""One launch on made up arguments: the compiled machine says whether anything goes wrong, the interpreter says what.

An access behind the end of an array that was made up makes the array longer; the launch begins again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.errors import UsageError
from warpsmith.flows.started import StartedLaunch, place_launch
from warpsmith.flows.witness.made import Made
from warpsmith.kernels.units import KernelUnit
from warpsmith.simt.engine.engine import Checks, run, why_refused
from warpsmith.simt.engine.words import Stop
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Dim, KernelProblem, Launch, Outcome
from warpsmith.ssa.nodes import Function

__all__ = ["Attempt", "Planned", "try_launch"]

_CHECKS: Final = Checks(lost=False, requests=False, uninitialized=False, quick=True)
_STEPS: Final = 20_000_000
"""Instructions of lanes that compiled code executes at most, a fifth of a second or so."""
_INTERPRETED: Final = 300_000
"""Instructions of lanes that the interpreter executes at most, three seconds."""
_GROWTHS: Final = 40
_BLOCKS: Final = 4
"""Blocks that the interpreter runs before it runs all, to see who conflicts with whom."""


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


def try_launch(planned: Planned, made: Made) -> Attempt | None:
    """Return how a launch went whose arrays are long enough; None where there is none."""
    for _ in range(_GROWTHS):
        try:
            started = _place(planned, made)
        except UsageError:
            return None
        found = _try_once(planned.unit, planned.kernel, started, made)
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


def _try_once(unit: KernelUnit, kernel: Function, started: StartedLaunch, made: Made) -> Attempt | KernelProblem | None:
    """Return how the launch went, or the problem that ended it before anything could be seen."""
    launch, memory = replace(started.launch, max_steps=_STEPS), started.memory
    if why_refused(unit.module, kernel, launch):
        return _interpret(unit, kernel, started, made, None)
    ran = run(unit.module, kernel.name, launch, memory, _CHECKS)
    if ran.stop is Stop.NONE:
        return Attempt(made, started, None, ended=True)
    if ran.stop is Stop.RACE:
        return _find_pair(unit, kernel, started, made, ran.stopped.block)
    return ran.problem


def _find_pair(
    unit: KernelUnit, kernel: Function, started: StartedLaunch, made: Made, block: int
) -> Attempt | KernelProblem | None:
    """Return the attempt with what the interpreter sees of a race that compiled code met in a block, or the problem
    that comes before it there."""
    for some in _neighbours(block, started.launch):
        found = _interpret(unit, kernel, started, made, some)
        if not isinstance(found, Attempt) or found.outcome is not None:
            return found
    return Attempt(made, started, None, ended=False)


def _neighbours(block: int, launch: Launch) -> Iterator[Sequence[int]]:
    """Yield blocks to run together: the one that met a race, then with those before it, of which one may be the
    other."""
    yield (block,)
    if block:
        yield (0, block) if block == 1 else tuple(sorted({0, block - 1, block}))
        across = launch.grid[0]
        if across > 1 and block >= across:
            yield (block - across, block)
        yield tuple(range(max(0, block + 1 - _BLOCKS), block + 1))
    if block >= _BLOCKS:
        yield tuple(range(block + 1))


def _interpret(
    unit: KernelUnit, kernel: Function, started: StartedLaunch, made: Made, only: Sequence[int] | None
) -> Attempt | KernelProblem | None:
    """Return what the interpreter sees of some blocks."""
    memory, _ = started.placed(checks=True)
    launch = replace(started.launch, max_steps=_INTERPRETED, only=None if only is None else tuple(only))
    outcome = interpret(unit.module, kernel.name, launch, memory)
    bounds = next((problem for problem in outcome.problems if problem.kind == "bounds"), None)
    if bounds is not None and not outcome.conflicts:
        return bounds
    if outcome.conflicts:
        return Attempt(made, started, outcome, ended=False)
    return Attempt(made, started, None, ended=outcome.complete and only is None)
