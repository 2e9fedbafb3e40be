"""Where threads that a branch has parted meet again, and with what: the sync dependence of a divergent branch.

    B ──► s1 ──► J ◄── s2 ◄── B        labels flow from the successors of B; a block that gets two of them is a join:
                                       its phis tell the two ways apart
    Labels stop at a post-dominator P of B, where all threads are together again: the next one that every thread reaches
    in the same iteration of the cycles around it. A cycle that holds B but not P is left by some threads while others
    go on: what it defines may differ behind it (temporal divergence).

LLVM: Convergence and Uniformity (GenericUniformityImpl.h); a block that several labels reach keeps its own label on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warpsmith.ssa.graph import EXIT, Cycle, Graph

__all__ = ["Parting", "parting", "region"]


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
    end = _end(graph, block)
    labels, incoming = _labels(graph, block, end)
    joins = {name: ways for name, ways in incoming.items() if len(set(ways.values())) > 1}
    left = tuple(c for c in graph.cycles_around(block) if end == EXIT or end not in c.blocks)
    mixed = tuple(c for c in _all(graph.cycles) if len(c.entries) > 1 and _is_mixed(c, labels, block))
    return Parting(joins, left, mixed)


def region(graph: Graph, block: str) -> frozenset[str]:
    """Return the blocks in which threads that part at the end of `block` may be without the others."""
    return frozenset(_between(graph, block, _end(graph, block)))


def _end(graph: Graph, block: str) -> str:
    """Return where all threads meet again: a post-dominator that no path gets to by starting an iteration anew."""
    end = graph.post_dominator[block]
    while end != EXIT:
        between = _between(graph, block, end)
        around = (c for c in graph.cycles_around(block) if end in c.blocks)
        if not any(c.header in between for c in around):
            return end
        end = graph.post_dominator[end]
    return end


def _between(graph: Graph, start: str, end: str) -> set[str]:
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
    its predecessors."""
    labels: dict[str, str] = {}
    incoming: dict[str, dict[str, str]] = {}
    pending = [name for name in graph.order if name in graph.successors[start]]
    for name in pending:
        incoming.setdefault(name, {})[start] = name
    while pending:
        name = pending.pop(0)
        seen = set(incoming[name].values())
        label = name if len(seen) > 1 or labels.get(name) == name else next(iter(seen))
        if labels.get(name) == label or name == end:
            labels.setdefault(name, label)
            continue
        labels[name] = label
        for after in graph.successors[name]:
            if name == start:
                # they part again: the successors keep the labels that they have from here
                continue
            ways = incoming.setdefault(after, {})
            if ways.get(name) != label:
                ways[name] = label
                pending.append(after)
    return labels, incoming


def _is_mixed(cycle: Cycle, labels: Mapping[str, str], block: str) -> bool:
    if block in cycle.blocks:
        return True
    return len({labels[entry] for entry in cycle.entries if entry in labels}) > 1


def _all(cycles: tuple[Cycle, ...]) -> list[Cycle]:
    return [c for cycle in cycles for c in (cycle, *_all(cycle.children))]
