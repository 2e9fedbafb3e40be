"""Which arms of branches a walk over a region is in, where it is not known which of the two arms runs.

    if (x[i] < 0) b[i] = …;     in arm (0, holds) at i     runs at i, or its other arm does
    else b[i] = …;              in arm (0, does not hold) at i

Invariant: at a point of `domain` of a statement, where all its arms run, the statement runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.poly.isl.formula import Formula, atoms_of, both
from warpsmith.poly.regions.region import Access, Arm, RunsWhen, Subscript
from warpsmith.poly.regions.state import State

__all__ = ["Condition", "OpenArms", "is_certain"]

Condition = tuple[Formula, RunsWhen]


class OpenArms(Struct):
    """The arms around the point of a walk, each with the place of its condition in the path and what decides it."""

    around: list[tuple[Arm, int, RunsWhen]] = field(default_factory=list)
    branches: int = 0

    def branch(self, state: State, holds: Condition, fails: Condition | None) -> tuple[Arm | None, Arm | None]:
        """Return the arms of a branch; None where it is known where they run, or there is one alone (`fails`: None)."""
        if fails is None or (is_decided(holds) and is_decided(fails) and not _images(state, (holds[0], fails[0]))):
            return None, None
        first = Arm(self.branches, True, len(state.counters))
        self.branches += 1
        return first, replace(first, holds=False)

    def enter(self, state: State, arm: Arm | None, condition: Condition) -> None:
        """Go into an arm; `leave` puts the path back, and what decides besides it is put back by the caller."""
        formula, runs = condition
        if arm is None:
            state.runs = min(state.runs, runs)
        else:
            self.around.append((arm, len(state.path), runs))
        state.path.append(formula)

    def leave(self, state: State, arm: Arm | None) -> None:
        """Go out of an arm."""
        state.path.pop()
        if arm is not None:
            self.around.pop()

    def runs(self, state: State) -> RunsWhen:
        """Return what decides, besides the path, whether the point of the walk is reached."""
        return min((state.runs, *(runs for _, _, runs in self.around)))

    def arms(self) -> tuple[Arm, ...]:
        """Return the arms, outermost first."""
        return tuple(arm for arm, _, _ in self.around)

    def domain(self, state: State) -> Formula | None:
        """Return the points at which the point of the walk is reached if all its arms run; None where more decides it,
        or there is no arm."""
        conditions = {place for _, place, _ in self.around}
        rest = both([part for place, part in enumerate(state.path) if place not in conditions])
        return rest if self.around and is_certain(state, state.runs, rest, ()) else None


def is_decided(condition: Condition) -> bool:
    """Whether a formula is all that a condition says."""
    return condition[1] is RunsWhen.ALWAYS


def is_certain(state: State, runs: RunsWhen, domain: Formula, accesses: Iterable[Access]) -> bool:
    """Whether what has these accesses runs at each point of a domain, and touches exactly these elements: what is only
    bounded is no exact domain, and no exact element."""
    return runs is RunsWhen.ALWAYS and not state.vocabulary.images(_named(domain, accesses))


def _images(state: State, formulas: Iterable[Formula]) -> bool:
    return bool(state.vocabulary.images(atoms_of(both(list(formulas)))))


def _named(domain: Formula, accesses: Iterable[Access]) -> Iterator[str]:
    """Yield the atoms of a statement's domain and of its subscripts."""
    yield from atoms_of(domain)
    for access in accesses:
        for step in access.path:
            for value in (step.value, step.extent) if isinstance(step, Subscript) else ():
                yield from () if value is None else value.atoms()
