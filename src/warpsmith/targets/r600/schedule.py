"""Operations get bundles and slots.

    in each bundle    those whose operands are there, the longest way to the end first, as many as have slots
    before each       every fetch whose coordinates are there: as early as it can be

Invariant: an operation stands behind the bundles of all that it reads, in a slot that it may stand in; no slot has two.
What a bundle reads is what was there before it. A bundle has four literals at most.

Ties are broken by several rules and then at random, and the shortest schedule is kept; `bound` says how short any can
be (bounds.py). Limits: the ports of registers and constants are not modeled, nor is what a clause may hold.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from warpsmith.machine.vliw.slots import SLOTS, Generation, width_of
from warpsmith.targets.r600.bounds import Distances, Node, distances_of, lower_bound, needs_of, slots_for
from warpsmith.targets.r600.groups import RegisterGroups
from warpsmith.targets.r600.operations import Fetch, NumberWord, Operation

__all__ = ["INLINE", "LITERALS", "Bundle", "Schedule", "schedule"]

LITERALS: Final = 4
INLINE: Final[dict[int, str]] = {0: "0", 1: "1", 0xFFFFFFFF: "-1", 0x3F800000: "1.0f", 0x3F000000: "0.5f"}
"""Numbers that operations have without a literal."""
_TRIES: Final = 60


class Bundle(Struct, frozen=True):
    """Operations by slot; one that takes several stands in the first."""

    slots: dict[str, Operation]


class Schedule(Struct, frozen=True):
    """Bundles in order; `fetched`: the number of bundles before each fetch; `bound`: no schedule has fewer bundles."""

    bundles: tuple[Bundle, ...]
    fetched: dict[Fetch, int]
    bound: int

    @property
    def shortest(self) -> bool:
        """Whether it is proven that there is none with fewer bundles."""
        return len(self.bundles) == self.bound


def schedule(groups: RegisterGroups, generation: Generation) -> Schedule:
    """Return the shortest schedule that was found."""
    distances = distances_of(groups)
    bound = lower_bound(groups, generation, distances)
    best: Schedule | None = None
    for rank in _ranks(groups, distances):
        found = _Scheduler(groups, generation, rank, bound).run()
        if best is None or len(found.bundles) < len(best.bundles):
            best = found
        if best.shortest:
            break
    assert best is not None
    return best


Rank = Callable[[Operation], tuple[float, ...]]


def _ranks(groups: RegisterGroups, distances: Distances) -> Iterator[Rank]:
    """Yield ways to say which operation comes first: less is earlier."""
    tail = distances.tail
    users: dict[Node, int] = {}
    nodes: tuple[Node, ...] = (*groups.operations, *groups.fetches)
    for node in nodes:
        for one in needs_of(node, groups):
            users[one] = users.get(one, 0) + 1
    yield lambda one: (-tail[one], -users.get(one, 0), one.number)
    yield lambda one: (-tail[one], one.number)
    yield lambda one: (-tail[one] - 0.5 * (len(one.operands) == 1), -users.get(one, 0), one.number)
    for seed in range(_TRIES):
        noise = random.Random(seed)
        jitter = {one: noise.random() * (0.9 if seed % 2 else 2.5) for one in groups.operations}
        yield _rank_by({one: jitter[one] - tail[one] for one in groups.operations})


def _rank_by(numbers: Mapping[Operation, float]) -> Rank:
    return lambda one: (numbers[one], one.number)


class _Scheduler:
    """Fills one bundle after the other, in the order of a rank."""

    def __init__(self, groups: RegisterGroups, generation: Generation, rank: Rank, bound: int) -> None:
        self.groups = groups
        self.generation = generation
        self.rank = rank
        self.bound = bound
        nodes: tuple[Node, ...] = (*groups.operations, *groups.fetches)
        self.waiting = {node: set(needs_of(node, groups)) for node in nodes}
        self.users: dict[Node, list[Node]] = {}
        for node, needs in self.waiting.items():
            for one in needs:
                self.users.setdefault(one, []).append(node)
        self.ready = [one for one in groups.operations if not self.waiting[one]]
        self.fetched: dict[Fetch, int] = {}
        self.bundles: list[Bundle] = []

    def run(self) -> Schedule:
        """Return the schedule."""
        self._fetch([fetch for fetch in self.groups.fetches if not self.waiting[fetch]])
        while self.ready:
            self.ready.sort(key=self.rank)
            bundle = _Filled(self.groups, self.generation)
            chosen = [one for one in self.ready if bundle.takes(one)]
            self.bundles.append(bundle.made())
            self.ready = [one for one in self.ready if one not in set(chosen)]
            self._done(chosen)
        return Schedule(tuple(self.bundles), self.fetched, self.bound)

    def _done(self, nodes: Sequence[Node]) -> None:
        fetches: list[Fetch] = []
        for node in nodes:
            for user in self.users.get(node, ()):
                self.waiting[user].discard(node)
                if self.waiting[user]:
                    continue
                if isinstance(user, Fetch):
                    fetches.append(user)
                else:
                    self.ready.append(user)
        self._fetch(fetches)

    def _fetch(self, fetches: list[Fetch]) -> None:
        for fetch in fetches:
            self.fetched[fetch] = len(self.bundles)
        if fetches:
            self._done(fetches)


class _Filled:
    """A bundle that takes operations as long as all that it has find slots."""

    def __init__(self, groups: RegisterGroups, generation: Generation) -> None:
        self.groups = groups
        self.generation = generation
        self.slots: dict[str, Operation] = {}
        self.blocked: set[str] = set()
        self.literals: set[int] = set()

    def takes(self, one: Operation) -> bool:
        """Take an operation where there is room; return whether there was."""
        used = {operand.value.bits for operand in one.operands if isinstance(operand.value, NumberWord)} - INLINE.keys()
        if len(self.literals | used) > LITERALS:
            return False
        width = width_of(one.name, self.generation)
        if width > 1:
            taken = self._takes_wide(one, width)
        else:
            taken = self._place(one, set())
        if taken:
            self.literals |= used
        return taken

    def _takes_wide(self, one: Operation, width: int) -> bool:
        """Take an operation of several slots, the first ones."""
        wanted = SLOTS[:width]
        if any(slot in self.slots or slot in self.blocked for slot in wanted):
            return False
        self.slots["x"] = one
        self.blocked |= set(wanted)
        return True

    def _place(self, one: Operation, seen: set[str]) -> bool:
        """Find a slot by moving others (augmenting paths); vector slots first."""
        for slot in slots_for(one, self.groups, self.generation):
            if slot in seen or slot in self.blocked:
                continue
            seen.add(slot)
            if slot not in self.slots or self._place(self.slots[slot], seen):
                self.slots[slot] = one
                return True
        return False

    def made(self) -> Bundle:
        """Return the bundle."""
        return Bundle({slot: self.slots[slot] for slot in SLOTS if slot in self.slots})
