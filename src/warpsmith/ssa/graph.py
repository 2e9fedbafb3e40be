"""The control-flow graph of a function: predecessors, order, dominators and post-dominators, cycles.

Post-dominators are the dominators of the reversed graph with one virtual exit, which every block leads to that has no
successor, or that cannot leave (an endless loop has no last block).

Cycles as in LLVM (Terminology for Cycles, ConvergenceAndUniformity): a cycle is a largest strongly connected part; take
its header away, and the cycles of what is left are its children. One entry: a natural loop; several: irreducible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import networkx as nx

from warpsmith.ssa.nodes import Function, successors

__all__ = ["EXIT", "Cycle", "Graph"]

EXIT = ""
"""The virtual block behind the last one; no block of a function has this name."""


@dataclass(frozen=True, slots=True, eq=False)
class Cycle:
    """A loop: `header` is its first entry in the order of the graph; `entries` are the blocks at which control may
    enter it (more than one: irreducible), `blocks` all of its own and of its children's; `depth` is 1 for an outermost
    one."""

    header: str
    entries: tuple[str, ...]
    blocks: frozenset[str]
    depth: int
    children: tuple[Cycle, ...]


@dataclass(frozen=True, slots=True)
class Graph:
    """Blocks that can be reached from the entry, in reverse post-order, and how control goes between them.

    `dominator` and `post_dominator` are the immediate ones; the entry has no dominator, and EXIT stands where nothing
    but the end post-dominates a block.
    """

    entry: str
    order: tuple[str, ...]
    successors: Mapping[str, tuple[str, ...]]
    predecessors: Mapping[str, tuple[str, ...]]
    dominator: Mapping[str, str]
    post_dominator: Mapping[str, str]
    cycles: tuple[Cycle, ...]
    _below: Mapping[str, tuple[int, int]] = field(repr=False)
    _before: Mapping[str, tuple[int, int]] = field(repr=False)
    _around: Mapping[str, tuple[Cycle, ...]] = field(repr=False)

    @classmethod
    def of(cls, function: Function) -> Graph:
        """Return the graph of a function with blocks."""
        entry = function.blocks[0].name
        edges: nx.DiGraph[str] = nx.DiGraph()
        edges.add_nodes_from(block.name for block in function.blocks)
        edges.add_edges_from((b.name, after) for b in function.blocks for after in successors(b.terminator))
        order = tuple(reversed(list(nx.dfs_postorder_nodes(edges, entry))))
        edges = edges.subgraph(order)
        dominator, post_dominator = _immediate(edges, entry), _post_dominators(edges, order)
        cycles = tuple(_cycles(edges, edges, order, 1))
        return cls(
            entry,
            order,
            {name: tuple(edges.successors(name)) for name in order},
            {name: tuple(edges.predecessors(name)) for name in order},
            dominator,
            post_dominator,
            cycles,
            _intervals(dominator, entry),
            _intervals(post_dominator, EXIT),
            _holders(cycles),
        )

    def dominates(self, above: str, below: str) -> bool:
        """Whether every path from the entry to `below` goes through `above` (each block dominates itself)."""
        return _encloses(self._below, above, below)

    def post_dominates(self, above: str, below: str) -> bool:
        """Whether every path from `below` to the end goes through `above`."""
        return _encloses(self._before, above, below)

    def cycles_around(self, block: str) -> tuple[Cycle, ...]:
        """Return the cycles that hold `block`, outermost first."""
        return self._around.get(block, ())


def _immediate(edges: nx.DiGraph[str], start: str) -> dict[str, str]:
    return {name: above for name, above in nx.immediate_dominators(edges, start).items() if name != start}


def _post_dominators(edges: nx.DiGraph[str], order: Sequence[str]) -> dict[str, str]:
    backward = nx.DiGraph(edges.reverse())
    backward.add_edges_from((EXIT, name) for name in order if not edges.out_degree(name))
    leaving = {EXIT, *nx.descendants(backward, EXIT)} if EXIT in backward else {EXIT}
    backward.add_edges_from((EXIT, name) for name in order if name not in leaving)
    return _immediate(backward, EXIT)


def _cycles(whole: nx.DiGraph[str], part: nx.DiGraph[str], order: Sequence[str], depth: int) -> Iterator[Cycle]:
    """Yield the cycles of `part` of a graph, in order."""
    place = {name: number for number, name in enumerate(order)}
    found = [sorted(blocks, key=place.__getitem__) for blocks in nx.strongly_connected_components(part)]
    for inside in sorted(found, key=lambda blocks: place[blocks[0]]):
        if len(inside) > 1 or part.has_edge(inside[0], inside[0]):
            blocks = frozenset(inside)
            entries = tuple(n for n in inside if any(p not in blocks for p in whole.predecessors(n))) or (inside[0],)
            left = part.subgraph(blocks - {entries[0]})
            yield Cycle(entries[0], entries, blocks, depth, tuple(_cycles(whole, left, order, depth + 1)))


def _holders(cycles: tuple[Cycle, ...]) -> dict[str, tuple[Cycle, ...]]:
    """Return, for each block that a cycle holds, all that do, outermost first."""
    around: dict[str, tuple[Cycle, ...]] = {}
    stack: list[tuple[Cycle, tuple[Cycle, ...]]] = [(cycle, ()) for cycle in cycles]
    while stack:
        cycle, above = stack.pop()
        here = (*above, cycle)
        around.update(dict.fromkeys(cycle.blocks, here))
        stack += [(child, here) for child in cycle.children]
    return around


def _intervals(parent: Mapping[str, str], root: str) -> dict[str, tuple[int, int]]:
    """Return, for each node of a tree, when a walk comes to it and when it leaves it."""
    tree = nx.DiGraph([(above, name) for name, above in parent.items()])
    tree.add_node(root)
    come: dict[str, int] = {}
    leave: dict[str, int] = {}
    for _, name, what in nx.dfs_labeled_edges(tree, root):
        if what == "forward":
            come[name] = len(come) + len(leave)
        elif what == "reverse":
            leave[name] = len(come) + len(leave)
    return {name: (come[name], leave[name]) for name in come}


def _encloses(intervals: Mapping[str, tuple[int, int]], above: str, below: str) -> bool:
    (start, end), (first, last) = intervals[above], intervals[below]
    return start <= first and last <= end
