"""The control-flow graph of a function: predecessors, order, dominators and post-dominators, cycles.

Post-dominators are the dominators of the reversed graph with one virtual exit, which every block leads to that has no
successor, or that cannot leave (an endless loop has no last block).

Cycles as in LLVM (Terminology for Cycles, ConvergenceAndUniformity): a cycle is a largest strongly connected part; take
its header away, and the cycles of what is left are its children. One entry: a natural loop; several: irreducible.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from warpsmith.ssa.digraph import dominators, parts, postorder
from warpsmith.ssa.nodes import Function, successors

__all__ = ["EXIT", "Cycle", "Graph"]

EXIT = ""
"""The virtual block behind the last one; no block of a function has this name."""


class Cycle(Struct, frozen=True, eq=False):
    """A loop: `header` is its first entry in the order of the graph; `entries` are the blocks at which control may
    enter it (more than one: irreducible), `blocks` all of its own and of its children's; `depth` is 1 for an outermost
    one."""

    header: str
    entries: tuple[str, ...]
    blocks: frozenset[str]
    depth: int
    children: tuple[Cycle, ...]


class Graph(Struct, frozen=True):
    """Blocks that can be reached from the entry, in reverse post-order, and how control goes between them.

    `dominator` and `post_dominator` are the immediate ones; the entry has no dominator, and EXIT stands where nothing
    but the end post-dominates a block. `rank` is the place of a block in `order`; `irreducible`: the cycles, at any
    depth, that have several entries; `leaving`: empty blocks that lead to the end of the thread.
    """

    entry: str
    order: tuple[str, ...]
    successors: Mapping[str, tuple[str, ...]]
    predecessors: Mapping[str, tuple[str, ...]]
    dominator: Mapping[str, str]
    post_dominator: Mapping[str, str]
    cycles: tuple[Cycle, ...]
    rank: Mapping[str, int]
    irreducible: tuple[Cycle, ...]
    leaving: frozenset[str]
    _below: Mapping[str, tuple[int, int]]
    _before: Mapping[str, tuple[int, int]]
    _around: Mapping[str, tuple[Cycle, ...]]

    @classmethod
    def of(cls, function: Function) -> Graph:
        """Return the graph of a function with blocks."""
        entry = function.blocks[0].name
        whole = {block.name: successors(block.terminator) for block in function.blocks}
        order = tuple(reversed(postorder(whole, entry)))
        after = {name: whole[name] for name in order}
        before = _reverse_edges(after)
        rank = {name: number for number, name in enumerate(order)}
        dominator, post_dominator = dominators(after, entry), _post_dominators(before, after)
        cycles = tuple(_cycles(_Edges(after, before, rank), order, 1))
        around = _holders(cycles)
        several = {cycle for held in around.values() for cycle in held if len(cycle.entries) > 1}
        return cls(
            entry,
            order,
            after,
            before,
            dominator,
            post_dominator,
            cycles,
            rank,
            tuple(sorted(several, key=lambda cycle: (rank[cycle.header], cycle.depth))),
            _leaving(function, order),
            _intervals(dominator, entry),
            _intervals(post_dominator, EXIT),
            around,
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


def _reverse_edges(after: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return the predecessors of each node."""
    before: dict[str, list[str]] = {name: [] for name in after}
    for name, names in after.items():
        for one in names:
            before[one].append(name)
    return {name: tuple(names) for name, names in before.items()}


def _post_dominators(before: Mapping[str, Sequence[str]], after: Mapping[str, Sequence[str]]) -> dict[str, str]:
    ends = [name for name in after if not after[name]]
    leaving = set(postorder({**before, EXIT: ends}, EXIT))
    ends += [name for name in after if name not in leaving]
    return dominators({**before, EXIT: ends}, EXIT)


def _leaving(function: Function, order: Sequence[str]) -> frozenset[str]:
    """Return the blocks in which a thread does nothing any more but end."""
    blocks = {block.name: block for block in function.blocks}
    found: set[str] = set()
    for name in reversed(order):
        block = blocks[name]
        after = successors(block.terminator)
        if not block.phis and not block.instructions and len(after) <= 1 and found.issuperset(after):
            found.add(name)
    return frozenset(found)


class _Edges(Struct, frozen=True):
    after: Mapping[str, Sequence[str]]
    before: Mapping[str, Sequence[str]]
    rank: Mapping[str, int]


def _cycles(edges: _Edges, among: Collection[str], depth: int) -> Iterator[Cycle]:
    """Yield the cycles of a part of a graph, in order."""
    rank = edges.rank
    found = [sorted(blocks, key=rank.__getitem__) for blocks in parts(edges.after, among)]
    for inside in sorted(found, key=lambda blocks: rank[blocks[0]]):
        if len(inside) > 1 or inside[0] in edges.after[inside[0]]:
            blocks = frozenset(inside)
            entries = tuple(n for n in inside if any(p not in blocks for p in edges.before[n])) or (inside[0],)
            left = [name for name in inside if name != entries[0]]
            yield Cycle(entries[0], entries, blocks, depth, tuple(_cycles(edges, left, depth + 1)))


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
    """Return, for each node of a tree, how many nodes a walk has left when it comes to it, and when it leaves it."""
    children: dict[str, list[str]] = {name: [] for name in (root, *parent)}
    for name, above in parent.items():
        children[above].append(name)
    order = postorder(children, root)
    leave = {name: number for number, name in enumerate(order)}
    come: dict[str, int] = {}
    for name in order:
        come[name] = min([leave[name], *(come[child] for child in children[name])])
    return {name: (come[name], leave[name]) for name in order}


def _encloses(intervals: Mapping[str, tuple[int, int]], above: str, below: str) -> bool:
    (start, end), (first, last) = intervals[above], intervals[below]
    return start <= first and last <= end
