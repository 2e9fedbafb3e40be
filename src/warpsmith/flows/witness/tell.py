"""Races that are seen when a kernel is run on arguments that are made up, as facts.

witnessed     seen in a run, on nothing that had to be made up
conditional   seen in a run, which hangs on numbers that were made up: they are named
heuristic     seen in a run, and not with other numbers
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from msgspec.structs import replace

from warpsmith.analysis.uniformity.facts import AccessFact, KernelFacts, RaceFact, Side, WitnessThread
from warpsmith.analysis.uniformity.simulated import Escaped
from warpsmith.base.findings import Certainty
from warpsmith.base.time_limit import NO_TIME, OutOfTimeError, time_limit
from warpsmith.flows.witness.attempt import RACES, SHARED, Attempt, FailedLaunch, try_launch
from warpsmith.flows.witness.dependence import Origins, origins
from warpsmith.flows.witness.escapes import escape_of, keep_certain
from warpsmith.flows.witness.made import make_arguments
from warpsmith.flows.witness.plan import index_of, launch_plan, why_not
from warpsmith.flows.witness.reason import reason_of
from warpsmith.flows.witness.seen import SeenInRuns
from warpsmith.kernels.units import KernelFile, KernelUnit
from warpsmith.simt.layout import shared_layout
from warpsmith.simt.memory import AccessConflict, RecordedAccess
from warpsmith.ssa.nodes import Constant, Function, Instruction, Operand, Value

__all__ = ["search"]

_VARIED: Final = 2
"""Sizes with which a race has to be seen that hangs on them."""
_ADDS: Final = ("add", "sub", "fadd", "fsub")


def search(unit: KernelUnit, file: KernelFile, facts: KernelFacts, seconds: float) -> SeenInRuns:
    """Return what runs show within some time, and why there are no runs, or fewer."""
    why = why_not(unit, facts)
    return SeenInRuns(why=why) if why else _Search(unit, file, facts).run(seconds)


class _Search:
    """The search for races of one kernel."""

    def __init__(self, unit: KernelUnit, file: KernelFile, facts: KernelFacts) -> None:
        self.unit, self.facts, self.function = unit, facts, facts.function
        self.plan = launch_plan(unit, file, facts, RACES)
        self.grid = self.plan.grid
        self.sized = False
        self.counted = _counted(self.function)
        self.access: Mapping[int, AccessFact] = {id(fact.instruction): fact for fact in facts.accesses}
        self.escapes: list[Escaped] = []

    def run(self, seconds: float) -> SeenInRuns:
        """Return what launches with several sizes show, each pair of places once, and why that is not all. What hangs
        on the sizes is less certain where it is not seen with two of them."""
        seen: list[dict[frozenset[str], RaceFact]] = []
        why = ""
        try:
            with time_limit(seconds, of="processor"):
                why = self._try_sizes(seen)
        except OutOfTimeError as late:
            if late.of != "processor":
                raise
            why = NO_TIME
        found = {pair: race for races in reversed(seen) for pair, race in races.items()}
        races = [
            race if race.certainty != "conditional" or self._is_everywhere(pair, seen)
            else replace(race, certainty="heuristic")
            for pair, race in found.items()
        ]  # fmt: skip
        return SeenInRuns(races, keep_certain(self.escapes), why)

    def _is_everywhere(self, pair: frozenset[str], seen: Sequence[Mapping[frozenset[str], RaceFact]]) -> bool:
        """Whether a race was seen with several sizes, if there are any."""
        return (len(seen) > 1 or not self.sized) and all(pair in races for races in seen)

    def _try_sizes(self, seen: list[dict[frozenset[str], RaceFact]]) -> str:
        """Add what each launch shows that could be seen; return why there is none, or ""."""
        why = "nothing can be made up for one of its parameters"
        tried = list(
            make_arguments(self.unit, self.function, self.plan.threads, self.facts.shape, max(self.facts.block))
        )
        left, spare = ([made for made in tried if made.shrunk == shrunk] for shrunk in (False, True))
        self.sized = len(left) > 1
        while left and not self._is_settled(seen):
            made = left.pop(0)
            attempt = try_launch(self.plan.planned, made, seen[0].keys() if seen else frozenset())
            if isinstance(attempt, FailedLaunch):
                self.escapes += escape_of(self.plan, attempt)
                numbers = {name: text for name, text in made.numbers.items() if name not in made.given}
                why = reason_of(self.function, attempt, numbers, made.arrays)
                # what takes too long may end with the smallest numbers
                left = left[-1:] if attempt.problem.kind == "budget" else left
                left, spare = (left, spare) if left or seen else (spare, [])
                self.sized = self.sized or made.shrunk
            else:
                seen.append({race.places: race for race in reversed([*self._of(attempt)])})
        return "" if seen else why

    def _is_settled(self, seen: Sequence[Mapping[frozenset[str], RaceFact]]) -> bool:
        """Whether more sizes would change nothing: what hangs on them is not there with one, or is there with two."""
        return len(seen) == _VARIED or (bool(seen) and all(one.certainty == "witnessed" for one in seen[0].values()))

    def _of(self, attempt: Attempt) -> Iterator[RaceFact]:
        """Yield the races of a launch."""
        if attempt.outcome is None:
            return
        for conflict in attempt.outcome.conflicts:
            race = self._race(attempt, conflict)
            if race is not None:
                yield race

    def _race(self, attempt: Attempt, conflict: AccessConflict) -> RaceFact | None:
        sides = [self._side(access, conflict) for access in (conflict.first, conflict.second)]
        first, second = sides
        if first is None or second is None:
            return None
        if len({side.access.variable for side in (first, second)} & attempt.made.local) > 1:
            # one of two arrays was made too short
            return None
        reach = "block" if conflict.first.origin.block == conflict.second.origin.block else "grid"
        pair = [access.instruction for access in (first.access, second.access)]
        found = origins(self.function, pair, frozenset(attempt.made.arrays))
        assumptions = self.plan.assumptions(attempt.made, found.all, grid=reach == "grid")
        doubtful = self._is_scattered(pair, found) or self._is_far_fetched(attempt, found, grid=reach == "grid")
        if pair[0] is pair[1] and (pair[0], pair[0]) not in attempt.differing:
            # whoever stores, it is the same: no order is missed
            return None
        certainty: Certainty = "witnessed" if not assumptions else "heuristic" if doubtful else "conditional"
        space, offset = second.access.space, self._offset(attempt, conflict)
        return RaceFact(
            self.facts.kernel, second.access.variable, space, "block" if reach == "block" else "grid", offset, first,
            second, certainty, assumptions, self.plan.command(attempt),
        )  # fmt: skip

    def _side(self, access: RecordedAccess, conflict: AccessConflict) -> Side | None:
        fact = self.access.get(id(access.instruction))
        if fact is None:
            return None
        apart = conflict.first.origin.block != conflict.second.origin.block
        block = index_of(access.origin.block, self.grid) if apart else None
        return Side(WitnessThread(index_of(access.origin.thread, self.facts.block), block), fact)

    def _offset(self, attempt: Attempt, conflict: AccessConflict) -> int | None:
        """Return the byte of its variable that both touch, where that is a variable of a block."""
        if not conflict.buffer.startswith(SHARED):
            return conflict.offset
        started = attempt.started
        layout = shared_layout(self.unit.module, self.function.name, started.dynamic, started.launch.parts)
        part = layout.near(conflict.offset)
        return None if part is None else conflict.offset - part.start

    def _is_scattered(self, pair: Sequence[Instruction], found: Origins) -> bool:
        """Whether who meets whom is decided by memory that was made up, as in b[order[i]] = a[i], where all may differ,
        and threads do not count what they find, as in b[bin[i]]++."""
        return "memory" in found.places and not all(i.operands[0] in self.counted for i in pair)

    def _is_far_fetched(self, attempt: Attempt, found: Origins, *, grid: bool) -> bool:
        """Whether too much was made up together: several blocks, which hang together with numbers where a kernel is
        launched; or fractions that places are computed from."""
        numbers = attempt.made.numbers.keys()
        fractions = {p.name for p in self.function.parameters if p.type is not None and p.type.kind == "float"}
        several = grid and self.facts.shape.grid is None
        return bool(found.places & fractions & (numbers - attempt.made.given)) or (
            several and bool(found.all & numbers)
        )


def _counted(function: Function) -> AbstractSet[Operand]:
    """Return the addresses at which a kernel adds a number to what it finds there."""
    loaded = {i.results[0]: i.operands[0] for _, i in function.instructions() if i.op == "load" and i.results}
    added = {i.results[0]: i.operands for _, i in function.instructions() if i.op in _ADDS}
    found: set[Operand] = set()
    for _, i in function.instructions():
        parts = added.get(i.operands[1], ()) if i.op == "store" and isinstance(i.operands[1], Value) else ()
        if any(isinstance(part, Constant) for part in parts):
            found |= {loaded[part] for part in parts if isinstance(part, Value) and part in loaded} & {i.operands[0]}
    return found
