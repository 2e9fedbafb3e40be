"""Where threads that a branch has parted meet again, and with what: the sync dependence of a divergent branch.

    B ──► s1 ──► J ◄── s2 ◄── B        labels flow from the successors of B; a block that gets two of them is a join:
                                       its phis tell the two ways apart
    Labels stop at a post-dominator P of B, where all threads are together again: the next one that every thread reaches
    in the same iteration of the cycles around it. Threads that go straight to their end meet nobody. A cycle that holds
    B but not P is left by some threads while others go on: what it defines may differ behind it (temporal divergence).

LLVM: Convergence and Uniformity (GenericUniformityImpl.h); a block that several labels reach keeps its own label on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heappop, heappush

from warpsmith.ssa.graph import EXIT, Cycle, Graph

__all__ = ["Parting", "between", "meeting", "parting"]


@dataclass(frozen=True, slots=True)
class Parting:
    """What follows from threads parting at one block: `joins` by the predecessors over which they come, with the label
    of each; `left`: cycles that threads leave in different iterations; `mixed`: irreducible cycles that they enter at
    different places."""

    joins: Mapping[str, Mapping[str, str]]
    left: tuple[Cycle, ...]
    mixed: tuple[Cycle, ...]


def parting(graph: Graph, block: str) -> Parting:
    """Return what follows from a divergent branch at the end of `block`."""
    end = meeting(graph, block)
    labels, incoming = _labels(graph, block, end)
    joins = {name: ways for name, ways in incoming.items() if len(set(ways.values())) > 1}
    left = tuple(c for c in graph.cycles_around(block) if end == EXIT or end not in c.blocks)
    mixed = tuple(c for c in graph.irreducible if _is_mixed(c, labels, block))
    return Parting(joins, left, mixed)


def meeting(graph: Graph, block: str) -> str:
    """Return where threads that part at the end of `block` are all together again: a post-dominator that no path gets
    to by starting an iteration anew."""
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


def _labels(graph: Graph, start: str, end: str) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Return the label of every block that threads may be in while they are apart, and those that come in by each of
    its predecessors. Blocks are looked at in the order of the graph as seen from `start`, until all ways lead through
    one of them."""
    first, count = graph.rank[start] + 1, len(graph.order)
    labels: dict[str, str] = {}
    loops = {_loop(graph, start)}
    incoming = {name: {start: name} for name in graph.successors[start] if name not in graph.leaving}
    pending = sorted((graph.rank[name] - first) % count for name in incoming)
    while pending:
        name = graph.order[heappop(pending) + first - count]
        if not pending and name not in loops and name == _loop(graph, name):
            break  # everyone comes by here, and no way leads back: one label from here on
        loops.add(_loop(graph, name))
        seen = set(incoming[name].values())
        label = name if len(seen) > 1 or labels.get(name) == name else next(iter(seen))
        if labels.get(name) == label or name == end:
            labels.setdefault(name, label)
            continue
        labels[name] = label
        # where they part again, the successors keep the labels that they have from there
        for after in graph.successors[name] if name != start else ():
            if after not in graph.leaving and incoming.setdefault(after, {}).get(name) != label:
                incoming[after][name] = label
                if (place := (graph.rank[after] - first) % count) not in pending:
                    heappush(pending, place)
    return labels, incoming


def _loop(graph: Graph, name: str) -> str:
    """Return the header of the outermost cycle around a block, which is the last place from which a way leads back to
    it; its own name where there is none."""
    around = graph.cycles_around(name)
    return around[0].header if around else name


def _is_mixed(cycle: Cycle, labels: Mapping[str, str], block: str) -> bool:
    if block in cycle.blocks:
        return True
    return len({labels[entry] for entry in cycle.entries if entry in labels}) > 1
