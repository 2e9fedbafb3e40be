"""Races that are seen when a kernel is run on arguments that are made up, as facts.

witnessed     seen in a run, on nothing that had to be made up
conditional   seen in a run, which hangs on numbers that were made up: they are named
heuristic     seen in a run, and not with other numbers
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from msgspec.structs import replace

from warpsmith.analysis.uniformity.facts import AccessFact, Dim, KernelFacts, RaceFact, Side, WitnessThread
from warpsmith.base.findings import Certainty
from warpsmith.base.time_limit import NO_TIME, OutOfTimeError, time_limit
from warpsmith.flows.witness.attempt import SHARED, Attempt, FailedLaunch, Planned, try_launch
from warpsmith.flows.witness.dependence import Origins, origins
from warpsmith.flows.witness.made import make_arguments
from warpsmith.flows.witness.reason import reason_of
from warpsmith.kernels.units import KernelFile, KernelUnit
from warpsmith.simt.layout import shared_layout
from warpsmith.simt.memory import AccessConflict, RecordedAccess
from warpsmith.ssa.nodes import Constant, Function, Instruction, Operand, Query, Value

__all__ = ["search"]

_VARIED: Final = 2
"""Sizes with which a race has to be seen that hangs on them."""
_MOST: Final = 4
"""Blocks along an axis of a grid that is run."""
_ADDS: Final = ("add", "sub", "fadd", "fsub")
_LARGEST: Final = 5_000
"""Instructions of a kernel that is compiled: nothing can end that meanwhile."""


def search(unit: KernelUnit, file: KernelFile, facts: KernelFacts, seconds: float) -> tuple[Sequence[RaceFact], str]:
    """Return the races that runs show within some time, and why there are no runs, or fewer."""
    function = facts.function
    if sum(1 for _, i in function.instructions()) > _LARGEST:
        return (), f"it has more than {_LARGEST:,} instructions"
    if function.parameters and not unit.parameters.get(function.name):
        return (), "the types of its parameters are not known"
    return _Search(unit, file, facts).races(seconds)


class _Search:
    """The search for races of one kernel."""

    def __init__(self, unit: KernelUnit, file: KernelFile, facts: KernelFacts) -> None:
        self.unit, self.file, self.facts, self.function = unit, file, facts, facts.function
        self.grid = self._grid()
        self.sized = False
        shared, width = facts.shape.shared_bytes, facts.device.warp_width
        most = 0 if shared else 1024 * facts.device.shared_per_block_kib
        self.planned = Planned(unit, self.function, facts.block, self.grid, shared, width, most)
        self.counted = _counted(self.function)
        self.access: Mapping[int, AccessFact] = {id(fact.instruction): fact for fact in facts.accesses}

    def _grid(self) -> Dim:
        """Return the grid that is run: as it is launched, but not more than a few blocks along an axis."""
        given = self.facts.shape.grid
        if given is not None:
            x, y, z = (min(n, _MOST) for n in given)
            return x, y, z
        if self.facts.shape.arguments:
            # they may not be for more
            return 1, 1, 1
        used = {operand for _, i in self.function.instructions() for operand in i.operands}
        asked = {
            i.detail.register
            for _, i in self.function.instructions()
            if isinstance(i.detail, Query) and used.intersection(i.results)
        }
        x, y, z = (2 if f"ctaid.{axis}" in asked else 1 for axis in "xyz")
        return x, y, z

    def races(self, seconds: float) -> tuple[Sequence[RaceFact], str]:
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
        return [
            race if race.certainty != "conditional" or self._is_everywhere(pair, seen)
            else replace(race, certainty="heuristic")
            for pair, race in found.items()
        ], why  # fmt: skip

    def _is_everywhere(self, pair: frozenset[str], seen: Sequence[Mapping[frozenset[str], RaceFact]]) -> bool:
        """Whether a race was seen with several sizes, if there are any."""
        return (len(seen) > 1 or not self.sized) and all(pair in races for races in seen)

    def _try_sizes(self, seen: list[dict[frozenset[str], RaceFact]]) -> str:
        """Add what each launch shows that could be seen; return why there is none, or ""."""
        threads = tuple(n * size for n, size in zip(self.grid, self.facts.block, strict=True))
        why = "nothing can be made up for one of its parameters"
        left = list(make_arguments(self.unit, self.function, max(threads), self.facts.shape.arguments))
        self.sized = len(left) > 1
        while left and not self._is_settled(seen):
            made = left.pop(0)
            attempt = try_launch(self.planned, made, seen[0].keys() if seen else frozenset())
            if isinstance(attempt, FailedLaunch):
                numbers = {name: text for name, text in made.numbers.items() if name not in made.given}
                why = reason_of(self.function, attempt, numbers, made.arrays)
                # what takes too long may end with the smallest numbers
                left = left[-1:] if attempt.problem.kind == "budget" else left
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
        reach = "block" if conflict.first.origin.block == conflict.second.origin.block else "grid"
        pair = [access.instruction for access in (first.access, second.access)]
        found = origins(self.function, pair, frozenset(attempt.made.arrays))
        assumptions = self._assumptions(attempt, found.all, grid=reach == "grid")
        doubtful = self._is_scattered(pair, found) or self._is_far_fetched(attempt, found, grid=reach == "grid")
        certainty: Certainty = "witnessed" if not assumptions else "heuristic" if doubtful else "conditional"
        space, offset = second.access.space, self._offset(attempt, conflict)
        return RaceFact(
            self.facts.kernel, second.access.variable, space, "block" if reach == "block" else "grid", offset, first,
            second, certainty, assumptions, self._command(attempt),
        )  # fmt: skip

    def _side(self, access: RecordedAccess, conflict: AccessConflict) -> Side | None:
        fact = self.access.get(id(access.instruction))
        if fact is None:
            return None
        apart = conflict.first.origin.block != conflict.second.origin.block
        block = _index(access.origin.block, self.grid) if apart else None
        return Side(WitnessThread(_index(access.origin.thread, self.facts.block), block), fact)

    def _offset(self, attempt: Attempt, conflict: AccessConflict) -> int | None:
        """Return the byte of its variable that both touch, where that is a variable of a block."""
        if not conflict.buffer.startswith(SHARED):
            return conflict.offset
        layout = shared_layout(self.unit.module, self.function.name, attempt.started.shared, ())
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

    def _assumptions(self, attempt: Attempt, found: AbstractSet[str], *, grid: bool) -> tuple[str, ...]:
        """Return what was made up that the race hangs on; `found`: what it hangs on."""
        made = attempt.made
        numbers = (f"{name} is {text}" for name, text in made.numbers.items() if name in found - made.given)
        said = [*self.facts.block_assumed, *numbers]
        if "memory" in found:
            said.append("memory holds random numbers" if made.arrays else "variables of the file are as they begin")
        given = self.facts.shape.grid
        if (grid and given is None) or ("grid" in found and given != self.grid):
            said.append(f"the grid has {_by(self.grid)} blocks")
        return tuple(said)

    def _command(self, attempt: Attempt) -> str:
        """Return the command that shows the same."""
        given = [f"-{text}" if text.startswith("-std") else text for text in self.file.arguments]
        words = ["warpsmith", "simulate", self.file.path, *given, "--kernel", self.function.name]
        words += ["--block", _with_commas(self.facts.block), "--grid", _with_commas(self.grid)]
        if attempt.started.shared:
            words += ["--shared", str(attempt.started.shared)]
        for text in attempt.made.texts:
            words += ["--arg", text]
        return shlex.join(words)


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


def _index(number: int, sizes: Dim) -> Dim:
    x, y, _ = sizes
    return number % x, number // x % y, number // (x * y)


def _with_commas(sizes: Dim) -> str:
    return ",".join(map(str, sizes))


def _by(sizes: Dim) -> str:
    return "x".join(map(str, sizes))
