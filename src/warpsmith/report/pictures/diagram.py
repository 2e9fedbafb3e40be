"""A diagram as SVG: boxes with the user's own lines; what is divergent is marked by a word, a thick frame and a color.

The colors are those of the page's style (`--diverges` and its kin), with values of their own where the picture stands
alone; blue and orange stay apart for all kinds of color vision.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import Final

from warpsmith.analysis.resources.diagrams import Diagram, DiagramEdge, DiagramNode
from warpsmith.report.legible import legible
from warpsmith.report.pictures.layers import Size, layered

__all__ = ["MARKERS", "STYLE", "diagram_svg"]

_LETTER, _ROW, _PAD, _LONGEST = 7.3, 17.0, 9.0, 38

STYLE: Final = """
svg.diagram { --ink2: var(--ink, #1b1f24); --soft: var(--faint, #57606a); --box: var(--paper, #ffffff);
  --hot: var(--diverges, #b35900); --hot-fill: var(--diverges-fill, #ffe3c2); --apart: var(--apart-fill, #fff4e6);
  --cool: var(--line, #b8c0cc); --block: var(--warps-part, #0b5cad); max-width: none; }
svg.diagram text { font: 12px ui-monospace, monospace; fill: var(--ink2); } svg.diagram .small { fill: var(--soft); }
svg.diagram .way { paint-order: stroke; stroke: var(--box); stroke-width: 4px; fill: var(--soft); }
svg.diagram .word { font-weight: 700; fill: var(--hot); } svg.diagram .warps .word { fill: var(--block); }
svg.diagram .node rect { fill: var(--box); stroke: var(--cool); stroke-width: 1.2; }
svg.diagram .apart rect { fill: var(--apart); stroke: var(--hot); stroke-dasharray: 2 3; }
svg.diagram .divergent rect { fill: var(--hot-fill); stroke: var(--hot); stroke-width: 3; }
svg.diagram .warps rect { stroke: var(--block); stroke-width: 3; }
svg.diagram path { fill: none; stroke: var(--soft); stroke-width: 1.3; }
svg.diagram path.predicate { stroke: var(--hot); stroke-dasharray: 6 4; stroke-width: 1.8; }
marker path { stroke: none !important; } #plain path { fill: var(--faint, #57606a) !important; }
#hot path { fill: var(--diverges, #b35900) !important; }
"""


MARKERS: Final = "".join(
    f'<marker id="{kind}" class="{kind}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
    f'orient="auto"><path d="M0 0 L8 4 L0 8 z"/></marker>'
    for kind in ("plain", "hot")
)
"""Heads of arrows: once in a page."""


def diagram_svg(diagram: Diagram, name: str, *, alone: bool = False) -> str:
    """Return a diagram as SVG; `alone`: as a file of its own, with its style in it. `name` says whose it is."""
    texts = {node.key: _texts(node) for node in diagram.nodes}
    sizes = {key: _size(lines) for key, lines in texts.items()}
    drawn = layered(sizes, [(edge.start, edge.end) for edge in diagram.edges])
    wide, tall = drawn.size
    words = escape(f"{diagram.name} of {name}: {len(diagram.nodes)} nodes, {len(diagram.edges)} edges")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="diagram" viewBox="0 0 {wide:.0f} {tall:.0f}" '
        f'width="{wide:.0f}" height="{tall:.0f}" role="img" aria-label="{words}">',
        f"<style>{STYLE}</style><defs>{MARKERS}</defs>" if alone else "",
    ]
    for edge, route in zip(diagram.edges, drawn.routes, strict=True):
        parts += _edge(edge, route)
    for node in diagram.nodes:
        parts += _node(node, texts[node.key], drawn.centers[node.key], sizes[node.key])
    return "".join([*parts, "</svg>"])


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


def _node(node: DiagramNode, lines: Sequence[tuple[str, str]], center: Size, size: Size) -> Iterator[str]:
    (x, y), (wide, tall) = center, size
    round_ = {"block": 4, "value": 10, "seed": 0, "join": 16, "predicate": 10}[node.shape]
    yield f'<g class="node {"warps" if node.state == "block" else node.state}">'
    yield f'<rect x="{x - wide / 2:.1f}" y="{y - tall / 2:.1f}" width="{wide:.1f}" height="{tall:.1f}" rx="{round_}"/>'
    for number, (kind, text) in enumerate(lines):
        at = y - tall / 2 + _PAD + 10 + number * _ROW
        yield f'<text x="{x - wide / 2 + _PAD:.1f}" y="{at:.1f}" class="{kind}">{escape(text)}</text>'
    yield "</g>"


def _edge(edge: DiagramEdge, route: Sequence[tuple[float, float]]) -> Iterator[str]:
    path = f"M{route[0][0]:.1f} {route[0][1]:.1f}"
    for (x, y), (to_x, to_y) in pairwise(route):
        half = (y + to_y) / 2
        path += f" C{x:.1f} {half:.1f} {to_x:.1f} {half:.1f} {to_x:.1f} {to_y:.1f}"
    mark = "hot" if edge.kind == "predicate" else "plain"
    yield f'<path class="{edge.kind}" d="{path}" marker-end="url(#{mark})"/>'
    if edge.label:
        (x, y), (to_x, to_y) = route[0], route[1]
        yield (
            f'<text class="way" x="{x + 0.35 * (to_x - x) + 5:.1f}" y="{y + 0.35 * (to_y - y) + 4:.1f}">'
            f"{escape(edge.label)}</text>"
        )
