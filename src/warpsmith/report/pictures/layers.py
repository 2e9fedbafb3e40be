"""Where the nodes of a directed graph are drawn: in layers from top to bottom, edges going down.

Layers by the longest way from a source, edges that lead back turned around; within a layer nodes stand where their
neighbors' middles are (Sugiyama, Tagawa, Toda, 1981); a long edge has a place of its own in every layer between.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Final

from msgspec import Struct

__all__ = ["Drawn", "Size", "lay_out"]

Size = tuple[float, float]
Point = tuple[float, float]
_GAP: Final = 26.0
_BETWEEN: Final = 44.0
_SWEEPS: Final = 12
_WIDE: Final = 1100.0


class Drawn(Struct, frozen=True):
    """`centers` of the nodes; for each edge its points, from start to end; the size of it all."""

    centers: Mapping[str, Point]
    routes: tuple[tuple[Point, ...], ...]
    size: Size


def lay_out(sizes: Mapping[str, Size], edges: Sequence[tuple[str, str]]) -> Drawn:
    """Return where nodes of `sizes` stand, and how `edges` go between them; what is not connected stands side by side,
    in rows."""
    centers: dict[str, Point] = {}
    routes: dict[int, tuple[Point, ...]] = {}
    left, top, row_high, wide = 0.0, 0.0, 0.0, 0.0
    for nodes in _split_connected(sizes, edges):
        inside = [(number, edge) for number, edge in enumerate(edges) if edge[0] in nodes]
        part = _lay_out_part({node: sizes[node] for node in sizes if node in nodes}, [edge for _, edge in inside])
        if left and left + part.size[0] > _WIDE:
            left, top, row_high = 0.0, top + row_high, 0.0
        centers |= {node: (x + left, y + top) for node, (x, y) in part.centers.items()}
        for (number, _), route in zip(inside, part.routes, strict=True):
            routes[number] = tuple((x + left, y + top) for x, y in route)
        left += part.size[0]
        wide, row_high = max(wide, left), max(row_high, part.size[1])
    return Drawn(centers, tuple(routes[number] for number in range(len(edges))), (wide, top + row_high))


def _split_connected(sizes: Mapping[str, Size], edges: Sequence[tuple[str, str]]) -> list[set[str]]:
    """Return the nodes that hang together, the largest part first."""
    near: dict[str, list[str]] = defaultdict(list)
    for start, end in edges:
        near[start].append(end)
        near[end].append(start)
    seen: set[str] = set()
    parts: list[set[str]] = []
    for root in sizes:
        if root in seen:
            continue
        part, pending = {root}, [root]
        while pending:
            for other in near[pending.pop()]:
                if other not in part:
                    part.add(other)
                    pending.append(other)
        seen |= part
        parts.append(part)
    return sorted(parts, key=len, reverse=True)


def _lay_out_part(sizes: Mapping[str, Size], edges: Sequence[tuple[str, str]]) -> Drawn:
    """Return the places of one part that hangs together."""
    down = _downward(sizes, edges)
    rank = _ranks(sizes, down)
    chains = [_chain(number, one, rank) for number, one in enumerate(down)]
    layers: dict[int, list[Hashable]] = defaultdict(list)
    for node in sizes:
        layers[rank[node]].append(node)
    for (start, _), chain in zip(down, chains, strict=True):
        for step, inner in enumerate(chain[1:-1], start=1):
            layers[rank[start] + step].append(inner)
    near: dict[Hashable, list[Hashable]] = defaultdict(list)
    for chain in chains:
        for a, b in pairwise(chain):
            near[a].append(b)
            near[b].append(a)
    width = {key: sizes[key][0] if isinstance(key, str) else 8.0 for row in layers.values() for key in row}
    x = _place_nodes([layers[n] for n in sorted(layers)], near, width)
    return _draw_edges(sizes, edges, (layers, chains, x, rank))


def _downward(sizes: Mapping[str, Size], edges: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the edges with those turned around that lead back, as seen in the order of the nodes."""
    follows: dict[str, list[str]] = defaultdict(list)
    for start, end in edges:
        follows[start].append(end)
    state: dict[str, int] = {}
    back: set[tuple[str, str]] = set()
    for root in sizes:
        stack = [(root, iter(follows[root]))] if root not in state else []
        state.setdefault(root, 1)
        while stack:
            node, rest = stack[-1]
            after = next(rest, None)
            if after is None:
                state[node] = 2
                stack.pop()
            elif state.get(after) == 1:
                back.add((node, after))
            elif after not in state:
                state[after] = 1
                stack.append((after, iter(follows[after])))
    return [(end, start) if (start, end) in back else (start, end) for start, end in edges]


def _ranks(sizes: Mapping[str, Size], down: Sequence[tuple[str, str]]) -> dict[str, int]:
    rank = dict.fromkeys(sizes, 0)
    for _ in range(len(sizes)):
        changed = False
        for start, end in down:
            if start != end and rank[end] <= rank[start]:
                rank[end] = rank[start] + 1
                changed = True
        if not changed:
            break
    for start in sizes:
        after = [rank[end] for begin, end in down if begin == start and end != start]
        if after and not any(end == start for _, end in down):
            rank[start] = min(after) - 1
    return rank


def _chain(number: int, edge: tuple[str, str], rank: Mapping[str, int]) -> list[Hashable]:
    start, end = edge
    return [start, *((number, layer) for layer in range(rank[start] + 1, rank[end])), end]


def _place_nodes(
    layers: Sequence[list[Hashable]], near: Mapping[Hashable, Sequence[Hashable]], width: Mapping[Hashable, float]
) -> dict[Hashable, float]:
    """Return the middle of each node along x."""
    x: dict[Hashable, float] = {}
    for row in layers:
        _pack_row(row, x, {key: float(n) for n, key in enumerate(row)}, width)
    for sweep in range(_SWEEPS):
        for row in layers if sweep % 2 else reversed(layers):
            wanted = {key: fmean(x[other] for other in near[key]) if near.get(key) else x[key] for key in row}
            row.sort(key=wanted.__getitem__)
            _pack_row(row, x, wanted, width)
    left = min((x[key] - width[key] / 2 for row in layers for key in row), default=0.0)
    return {key: at - left + _GAP for key, at in x.items()}


def _pack_row(
    row: Sequence[Hashable], x: dict[Hashable, float], wanted: Mapping[Hashable, float], width: Mapping[Hashable, float]
) -> None:
    """Put a row as near as can be to where it wants to be, without overlaps."""
    at: list[float] = []
    for n, key in enumerate(row):
        least = at[-1] + (width[row[n - 1]] + width[key]) / 2 + _GAP if n else wanted[key]
        at.append(max(least, wanted[key]))
    shift = fmean(wanted[key] - place for key, place in zip(row, at, strict=True)) if row else 0.0
    for key, place in zip(row, at, strict=True):
        x[key] = place + shift


_Laid = tuple[Mapping[int, list[Hashable]], list[list[Hashable]], Mapping[Hashable, float], Mapping[str, int]]


def _draw_edges(sizes: Mapping[str, Size], edges: Sequence[tuple[str, str]], laid: _Laid) -> Drawn:
    layers, chains, x, rank = laid
    middle: dict[int, float] = {}
    top = _GAP
    for number in sorted(layers):
        tall = max((sizes[key][1] for key in layers[number] if isinstance(key, str)), default=0.0)
        middle[number] = top + tall / 2
        top += tall + _BETWEEN
    centers = {node: (x[node], middle[rank[node]]) for node in sizes}
    routes: list[tuple[Point, ...]] = []
    for (start, end), chain in zip(edges, chains, strict=True):
        inner = [(x[key], middle[key[1]]) for key in chain if isinstance(key, tuple)]
        turned = chain[0] != start
        points = list(reversed(inner)) if turned else inner
        if start == end:
            wide, tall = sizes[start]
            cx, cy = centers[start]
            routes.append(((cx + wide / 2, cy - 6), (cx + wide / 2 + 22, cy), (cx + wide / 2, cy + 6)))
            continue
        sign = -1 if turned else 1
        a, b = centers[start], centers[end]
        first = (a[0], a[1] + sign * sizes[start][1] / 2)
        last = (b[0], b[1] - sign * sizes[end][1] / 2)
        routes.append((first, *points, last))
    wide = max([_GAP, *(x[key] + (sizes[key][0] / 2 if isinstance(key, str) else 4) for key in x)]) + _GAP
    return Drawn(centers, tuple(routes), (wide + 24, top - _BETWEEN + _GAP))
