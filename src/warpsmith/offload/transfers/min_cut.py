"""The cheapest way to part a graph: a minimum cut, by Dinic's maximum flow.

    source ─► a ─3─► b ─► sink        cutting 3 parts them; what the source still reaches is its side

E. A. Dinic, Algorithm for solution of a problem of maximum flow in networks with power estimation, 1970. Capacities are
integers; `None` is one that no cut may contain.
"""

from __future__ import annotations

from collections.abc import Hashable

from msgspec import Struct, field

__all__ = ["MinCut"]

SOURCE, SINK = 0, 1


class MinCut(Struct):
    """A directed graph under construction. Nodes are any hashable values; `source` and `sink` are given."""

    source: Hashable = "source"
    sink: Hashable = "sink"
    _numbers: dict[Hashable, int] = field(default_factory=dict)
    _edges: list[list[int]] = field(default_factory=list)
    _ends: list[int] = field(default_factory=list)
    _left: list[int | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        for node in (self.source, self.sink):
            self._number(node)

    def _number(self, node: Hashable) -> int:
        if node not in self._numbers:
            self._numbers[node] = len(self._edges)
            self._edges.append([])
        return self._numbers[node]

    def add(self, start: Hashable, end: Hashable, capacity: int | None = None) -> None:
        """Add an edge; it costs `capacity` to have `start` on the source's side and `end` on the sink's."""
        for one, other, left in ((start, end, capacity), (end, start, 0)):
            self._edges[self._number(one)].append(len(self._ends))
            self._ends.append(self._number(other))
            self._left.append(left)

    def source_side(self) -> frozenset[Hashable] | None:
        """Return the nodes on the source's side of the smallest minimum cut; None where every cut costs infinity."""
        while True:
            levels = self._levels()
            if levels[SINK] < 0:
                return frozenset(node for node, number in self._numbers.items() if levels[number] >= 0)
            if not self._augment(levels):
                return None

    def _levels(self) -> list[int]:
        """Return the distance of every node from the source over edges that are not full; -1 where there is no way."""
        levels = [-1] * len(self._edges)
        levels[SOURCE] = 0
        pending = [SOURCE]
        for node in pending:
            for edge in self._edges[node]:
                end = self._ends[edge]
                if self._left[edge] != 0 and levels[end] < 0:
                    levels[end] = levels[node] + 1
                    pending.append(end)
        return levels

    def _augment(self, levels: list[int]) -> bool:
        """Fill shortest ways until each has a full edge; False where one has no finite edge."""
        following = [0] * len(self._edges)
        way: list[int] = []
        node = SOURCE
        while True:
            if node == SINK:
                finite = [left for edge in way if (left := self._left[edge]) is not None]
                if not finite:
                    return False
                self._push(way, min(finite))
                way, node = [], SOURCE
            elif following[node] < len(self._edges[node]):
                edge = self._edges[node][following[node]]
                if self._left[edge] != 0 and levels[self._ends[edge]] == levels[node] + 1:
                    way.append(edge)
                    node = self._ends[edge]
                else:
                    following[node] += 1
            elif way:
                node = self._ends[way.pop() ^ 1]
                following[node] += 1
            else:
                return True

    def _push(self, way: list[int], amount: int) -> None:
        for edge in way:
            forward, back = self._left[edge], self._left[edge ^ 1]
            self._left[edge] = None if forward is None else forward - amount
            self._left[edge ^ 1] = None if back is None else back + amount
