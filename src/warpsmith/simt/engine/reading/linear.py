"""The blocks of a function in the order in which a warp goes through them: loop bodies one behind the other.

    A ─► B ─► D         A B C D          every block once, a loop as a whole once for all its iterations
    └──► C ──┘          mask of D = what comes from B or what comes from C

Invariant: of two blocks of one iteration, the one that control can go to from the other stands behind it. So each block
is executed once an iteration, by all lanes that come to it, whichever way: maximal reconvergence (Karrenberg and Hack,
Whole-Function Vectorization, CGO 2011, 3.2; Moll and Hack, Partial Control-Flow Linearization, PLDI 2018).
Limits: a loop with several entries has no such order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from warpsmith.ssa.digraph import postorder
from warpsmith.ssa.graph import Cycle, Graph

__all__ = ["Item", "NaturalLoop", "in_line", "linear", "loops"]


class NaturalLoop(Struct, frozen=True):
    """A natural loop: `items` are its blocks and inner loops in order, `header` first."""

    header: str
    items: tuple[Item, ...]


Item = str | NaturalLoop
"""A block by its name, or a loop."""


def linear(graph: Graph) -> tuple[Item, ...]:
    """Return the blocks of a graph in order; raises ValueError where a loop has several entries."""
    if graph.irreducible:
        raise ValueError(f"the loop at {graph.irreducible[0].header} has several entries")
    return in_line(graph)


def in_line(graph: Graph) -> tuple[Item, ...]:
    """Return the blocks of a graph in order. Where a loop has several entries, the first block behind its header that
    control can enter at is not behind all from which control comes, outside the loop; all its ways around still go
    through its header."""
    return _region(graph, graph.order, graph.cycles, graph.entry)


def loops(items: Iterable[Item]) -> Iterator[NaturalLoop]:
    """Yield the loops among items, and all in them."""
    for item in items:
        if isinstance(item, NaturalLoop):
            yield item
            yield from loops(item.items)


def _region(graph: Graph, blocks: Iterable[str], cycles: Iterable[Cycle], entry: str) -> tuple[Item, ...]:
    """Return the blocks of one loop body, or of the function, that control enters at `entry`, in order."""
    inner = {cycle.header: cycle for cycle in cycles}
    home = {name: name for name in blocks} | {name: cycle.header for cycle in inner.values() for name in cycle.blocks}
    after: dict[str, dict[str, None]] = {name: {} for name in home.values()}
    for name, at in home.items():
        after[at].update({home[n]: None for n in graph.successors[name] if n in home and home[n] not in (at, entry)})
    order = reversed(postorder({name: tuple(reversed(names)) for name, names in after.items()}, home[entry]))
    return tuple(_item(graph, name, inner) for name in order)


def _item(graph: Graph, name: str, inner: Mapping[str, Cycle]) -> Item:
    cycle = inner.get(name)
    if cycle is None:
        return name
    return NaturalLoop(name, _region(graph, cycle.blocks, cycle.children, name))
