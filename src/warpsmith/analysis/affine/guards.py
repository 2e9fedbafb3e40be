"""The branches before a block: those that may keep threads away from it, and those of which one way only leads there.

    B ──► then ──► X ──► J        B parts threads up to J, where all meet again; X is behind its `then` way
    └──────────────────► J

Sets of branches are bits of numbers, by the rank of a branch's block in the graph, so that what holds above a block is
handed down to it as a whole. A branch behind which some threads never come back matters for all that can follow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from warpsmith.analysis.affine.failures import find_failing, is_test_of_failure
from warpsmith.analysis.affine.joins import between, meeting
from warpsmith.ssa.graph import EXIT, Graph
from warpsmith.ssa.nodes import BasicBlock, Branch

__all__ = ["Guard", "Guards", "bits", "find_diverged"]


class Guard(Struct, frozen=True):
    """A branch that a block is behind: the block that it ends, and whether its condition holds there."""

    block: str
    holds: bool


class Guards:
    """The answer for every block of a function whose threads diverge at the ends of `branches`."""

    def __init__(self, graph: Graph, blocks: Mapping[str, BasicBlock], branches: Iterable[str]) -> None:
        self.graph = graph
        failing = find_failing(graph, blocks)
        # whoever fails ends the launch: nobody is left that could miss the others
        self.diverged = find_diverged(graph, (b for b in branches if not is_test_of_failure(graph, failing, b)))
        self._ways = _ways(graph, blocks)
        self._inside: dict[str, int] = defaultdict(int)
        for name in graph.order:
            around = graph.cycles_around(name)
            self._inside[around[-1].header if around else ""] |= 1 << graph.rank[name]

    def before(self, block: str) -> int:
        """Return the branches of which only one way leads to `block`, in the same iteration of the loops around."""
        around = self.graph.cycles_around(block)
        if any(len(cycle.entries) > 1 for cycle in around):
            return 0
        inside = self._inside[""]
        for cycle in around:
            inside |= self._inside[cycle.header]
        then, other = self._ways[block]
        return (then | other) & inside

    def guard(self, rank: int, block: str) -> Guard:
        """Return a branch that is `before` a block with the way that leads there."""
        return Guard(self.graph.order[rank], bool(self._ways[block][0] >> rank & 1))


def find_diverged(graph: Graph, branches: Iterable[str]) -> dict[str, int]:
    """Return, for each block, the branches behind which threads may be there without the others."""
    found = dict.fromkeys(graph.order, 0)
    lasting: dict[str, str] = {}
    for name in branches:
        end = meeting(graph, name)
        if end == EXIT or end in graph.leaving:
            lasting[name] = end
        else:
            for inside in between(graph, name, end):
                found[inside] |= 1 << graph.rank[name]
    later = _propagate_starts(graph, lasting)
    for name, end in lasting.items():
        while end != EXIT:
            later[end] &= ~(1 << graph.rank[name])
            end = graph.successors[end][0] if graph.successors[end] else EXIT
    return {name: found[name] | later[name] for name in graph.order}


def _propagate_starts(graph: Graph, starts: Iterable[str]) -> dict[str, int]:
    """Return, for each block, the starts from which a way leads there."""
    own = {name: 1 << graph.rank[name] for name in starts}
    found = dict.fromkeys(graph.order, 0)
    changed = bool(own)
    while changed:
        changed = False
        for name in graph.order:
            come = found[name]
            for before in graph.predecessors[name]:
                come |= found[before] | own.get(before, 0)
            if come != found[name]:
                found[name], changed = come, True
    return found


def _ways(graph: Graph, blocks: Mapping[str, BasicBlock]) -> dict[str, tuple[int, int]]:
    """Return, for each block, the branches whose `then` way dominates it, and those whose other way does."""
    found: dict[str, tuple[int, int]] = {}
    for name in graph.order:
        then, other = found[graph.dominator[name]] if name != graph.entry else (0, 0)
        before = graph.predecessors[name]
        end = blocks[before[0]].terminator if len(before) == 1 else None
        if isinstance(end, Branch) and end.then != end.other:
            bit = 1 << graph.rank[before[0]]
            then, other = (then | bit, other) if name == end.then else (then, other | bit)
        found[name] = then, other
    return found


def bits(number: int) -> Iterator[int]:
    """Yield the places of the ones of a number.

    >>> list(bits(0b1010))
    [1, 3]
    """
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low
