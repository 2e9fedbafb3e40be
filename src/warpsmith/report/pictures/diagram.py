"""A diagram as `diagram.svg` draws it: boxes with the user's own lines; what is divergent is marked by a word, a thick
frame and a color.

The colors are those of the page's style (`--diverges` and its kin), with values of their own where the picture stands
alone (`diagram.css`); blue and orange stay apart for all kinds of color vision.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from warpsmith.analysis.resources.diagrams import Diagram, DiagramEdge, DiagramNode
from warpsmith.report.legible import legible
from warpsmith.report.pictures.layers import Size, lay_out

__all__ = ["DrawnDiagram", "DrawnEdge", "DrawnNode", "drawn_diagram"]

_LETTER, _ROW, _PAD, _LONGEST = 7.3, 17.0, 9.0, 38


class DrawnNode(Struct, frozen=True):
    """A box with its corner, size and the radius of its corners, in pixels; its lines, each with its class, the first
    one's base line at `text_y`, the next ones `row` below."""

    state: str
    x: float
    y: float
    wide: float
    high: float
    round: int
    lines: tuple[tuple[str, str], ...]
    text_x: float
    text_y: float
    row: float = _ROW


class DrawnEdge(Struct, frozen=True):
    """An edge with its curve, as SVG writes paths, the head of its arrow, and its label with its place."""

    kind: str
    path: str
    mark: str
    label: str
    label_x: float
    label_y: float


class DrawnDiagram(Struct, frozen=True):
    """A diagram as `diagram.svg` draws it, and what it is in words."""

    words: str
    wide: float
    high: float
    nodes: tuple[DrawnNode, ...]
    edges: tuple[DrawnEdge, ...]


def drawn_diagram(diagram: Diagram, name: str) -> DrawnDiagram:
    """Return where everything of a diagram stands; `name` says whose it is."""
    texts = {node.key: _texts(node) for node in diagram.nodes}
    sizes = {key: _size(lines) for key, lines in texts.items()}
    drawn = lay_out(sizes, [(edge.start, edge.end) for edge in diagram.edges])
    wide, high = drawn.size
    words = f"{diagram.name} of {name}: {len(diagram.nodes)} nodes, {len(diagram.edges)} edges"
    nodes = (_node(node, texts[node.key], drawn.centers[node.key], sizes[node.key]) for node in diagram.nodes)
    edges = (_edge(edge, route) for edge, route in zip(diagram.edges, drawn.routes, strict=True))
    return DrawnDiagram(words, wide, high, tuple(nodes), tuple(edges))


def _texts(node: DiagramNode) -> list[tuple[str, str]]:
    """Return the lines of a box, with the class of each."""
    title = [("small" if node.shape == "block" else "", _cut(node.title))] if node.title else []
    body = [("" if node.shape == "block" else "small", _cut(line)) for line in node.lines]
    return [*title, *body, *([("word", node.note)] if node.note else [])] or [("small", "·")]


def _cut(text: str) -> str:
    shown = legible(text)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"


def _size(lines: Sequence[tuple[str, str]]) -> Size:
    return max(len(text) for _, text in lines) * _LETTER + 2 * _PAD, len(lines) * _ROW + 2 * _PAD - 4


def _node(node: DiagramNode, lines: Sequence[tuple[str, str]], center: Size, size: Size) -> DrawnNode:
    (x, y), (wide, high) = center, size
    round_ = {"block": 4, "value": 10, "seed": 0, "join": 16, "predicate": 10}[node.shape]
    state = "warps" if node.state == "block" else node.state
    left, top = x - wide / 2, y - high / 2
    return DrawnNode(state, left, top, wide, high, round_, tuple(lines), left + _PAD, top + _PAD + 10)


def _edge(edge: DiagramEdge, route: Sequence[tuple[float, float]]) -> DrawnEdge:
    path = f"M{route[0][0]:.1f} {route[0][1]:.1f}"
    for (x, y), (to_x, to_y) in pairwise(route):
        half = (y + to_y) / 2
        path += f" C{x:.1f} {half:.1f} {to_x:.1f} {half:.1f} {to_x:.1f} {to_y:.1f}"
    mark = "hot" if edge.kind == "predicate" else "plain"
    (x, y), (to_x, to_y) = route[0], route[1]
    return DrawnEdge(edge.kind, path, mark, edge.label, x + 0.35 * (to_x - x) + 5, y + 0.35 * (to_y - y) + 4)
