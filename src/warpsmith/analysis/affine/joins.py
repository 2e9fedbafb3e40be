"""Where threads that a branch has diverged meet again, and with what: the sync dependence of a divergent branch.

    B ──► s1 ──► J ◄── s2 ◄── B        labels flow from the successors of B; a block that gets two of them is a join:
                                       its phis tell the two ways apart
    Labels stop at a post-dominator P of B, where all threads are together again: the next one that every thread reaches
    in the same iteration of the cycles around it. Threads that go straight to their end meet nobody. A cycle that holds
    B but not P is left by some threads while others go on: what it defines may differ behind it (temporal divergence).
    Those that go on do not meet the others inside of it, where iterations count, but behind it: a block of a cycle
    that holds B is one place for those who are there in the iteration of B, another for those who come in a later one.

LLVM: Convergence and Uniformity (GenericUniformityImpl.h); a block that several labels reach keeps its own label on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from heapq import heappop, heappush

from msgspec import Struct

from warpsmith.ssa.graph import EXIT, Cycle, Graph

__all__ = ["Divergence", "between", "follow_divergence", "meeting"]


class Divergence(Struct, frozen=True):
    """What follows from threads diverging at one block: `joins` with the predecessors over which they come; `left`:
    cycles that threads leave in different iterations; `mixed`: irreducible cycles that they enter at different
    places."""

    joins: Mapping[str, frozenset[str]]
    left: tuple[Cycle, ...]
    mixed: tuple[Cycle, ...]


def follow_divergence(graph: Graph, block: str) -> Divergence:
    """Return what follows from a divergent branch at the end of `block`."""
    end = meeting(graph, block)
    flow = _Flow(graph, block, end)
    flow.run()
    joins: dict[str, set[str]] = {}
    for name, ways in flow.meetings():
        joins.setdefault(name, set()).update(ways)
    left = tuple(c for c in graph.cycles_around(block) if end == EXIT or end not in c.blocks)
    mixed = tuple(c for c in graph.irreducible if block in c.blocks or flow.is_mixed(c))
    return Divergence({name: frozenset(ways) for name, ways in joins.items()}, left, mixed)


def meeting(graph: Graph, block: str) -> str:
    """Return where threads that diverge at the end of `block` are all together again: a post-dominator that no path
    gets to by starting an iteration anew."""
    end = graph.post_dominator[block]
    while end != EXIT:
        around = [c for c in graph.cycles_around(block) if end in c.blocks]
        if not around or {c.header for c in around}.isdisjoint(between(graph, block, end)):
            return end
        end = graph.post_dominator[end]
    return end


def between(graph: Graph, start: str, end: str) -> set[str]:
    """Return the blocks on the ways from behind `start` to before `end`."""
    found: set[str] = set()
    pending = list(graph.successors[start])
    while pending:
        name = pending.pop()
        if name != end and name not in found:
            found.add(name)
            pending += graph.successors[name]
    return found


_Place = tuple[str, str]
"""A block, and the header of the outermost cycle around it and the branch that has begun another iteration since; ""
where none has."""

_Label = tuple[str, ...]
"""The successor by which threads left the branch, or the place that they came to by several ways."""


class _Flow:
    """The labels of the places that threads may be at while they are apart, and those that come to a place from each
    of the places before it."""

    def __init__(self, graph: Graph, start: str, end: str) -> None:
        self.graph, self.start, self.end = graph, (start, ""), end
        self.held = {cycle.header for cycle in graph.cycles_around(start)}
        self.labels: dict[_Place, _Label] = {}
        self.incoming: dict[_Place, dict[_Place, _Label]] = {}
        self._pending: list[tuple[int, _Place]] = []
        self._waiting: set[_Place] = set()

    def run(self) -> None:
        """Hand labels on, in the order of the graph as seen from `start`, until all ways lead through one place."""
        loops = {_loop(self.graph, self.start[0])}
        for name in self.graph.successors[self.start[0]]:
            self._hand_on(self.start, name, (name,))
        while self._pending:
            _, place = heappop(self._pending)
            self._waiting.discard(place)
            name = place[0]
            if not self._pending and name not in loops and name == _loop(self.graph, name):
                break  # everyone comes by here, and no way leads back: one label from here on
            loops.add(_loop(self.graph, name))
            self._pass(place)

    def meetings(self) -> Iterator[tuple[str, set[str]]]:
        """Yield the blocks that threads of different labels come to over different blocks, and these. Those who enter a
        cycle and those who go around in it do not meet: they begin other iterations. Those who have come to its header
        with the label that it has are in a later one than those who come with another."""
        for place, ways in self.incoming.items():
            if len(ways) < 2:
                continue
            inside = self._inside(place[0])
            own = place if inside else None
            for part in (True, False):
                found = {(name, label) for (name, _), label in ways.items() if (name in inside) == part}
                before = {name for name, label in found if label != own}
                if len(before) > 1 and len({label for _, label in found} - {own}) > 1:
                    yield place[0], before

    def is_mixed(self, cycle: Cycle) -> bool:
        """Whether threads of different labels come to different entries of a cycle."""
        entered: dict[str, set[_Label]] = {}
        for (name, anew), label in self.labels.items():
            if name in cycle.entries:
                entered.setdefault(anew, set()).add(label)
        return any(len(labels) > 1 for labels in entered.values())

    def _inside(self, name: str) -> frozenset[str]:
        """Return the blocks of the cycle that a block is the header of."""
        around = self.graph.cycles_around(name)
        return around[-1].blocks if around and around[-1].header == name else frozenset()

    def _pass(self, place: _Place) -> None:
        """Hand the label of a place on to the next; one that several have come to has its own."""
        seen = set(self.incoming[place].values())
        known = self.labels.get(place)
        label = place if len(seen) > 1 or known == place else next(iter(seen))
        self.labels[place] = label
        if known == label or place[0] == self.end or place == self.start:
            return
        # where they part again, the successors keep the labels that they have from there
        for after in self.graph.successors[place[0]]:
            self._hand_on(place, after, label)

    def _hand_on(self, before: _Place, after: str, label: _Label) -> None:
        if after in self.graph.leaving:
            return
        place = after, self._anew(before, after)
        known = self.incoming.setdefault(place, {})
        if known.get(before) != label:
            known[before] = label
            first, count = self.graph.rank[self.start[0]] + 1, len(self.graph.order)
            if place not in self._waiting:
                self._waiting.add(place)
                heappush(self._pending, ((self.graph.rank[after] - first) % count, place))

    def _anew(self, place: _Place, after: str) -> str:
        """Return the header of the outermost cycle that threads have begun anew when they come to `after`."""
        if not self.held:
            return ""
        name, anew = place
        back = after in self.held and any(cycle.header == after for cycle in self.graph.cycles_around(name))
        begun = {anew, after} if back else {anew}
        around = (cycle.header for cycle in self.graph.cycles_around(after))
        return next((header for header in around if header in self.held and header in begun), "")


def _loop(graph: Graph, name: str) -> str:
    """Return the header of the outermost cycle around a block, which is the last place from which a way leads back to
    it; its own name where there is none."""
    around = graph.cycles_around(name)
    return around[0].header if around else name
