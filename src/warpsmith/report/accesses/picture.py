"""The picture of one pattern: the array as a grid, each touched element with its place in the order of the iterations.

The darker, the later. Of a large array, the first 16 elements along each dimension are drawn. The last two dimensions
are drawn, the last one from left to right; of an array with more, those elements are shown whose other subscripts are
those of the first one.
"""

from __future__ import annotations

from msgspec import Struct

from warpsmith.poly.patterns.model import ArrayReference

__all__ = ["PatternCell", "PatternPicture", "draw_pattern"]

_SIDE = 26
_GAP = 2
_MOST = 16
_FEWEST = 6
_STEPS = 4


class PatternCell(Struct, frozen=True):
    """One element: its corner, its place in the order (0: not touched), and how dark it is, from 1 to 4."""

    x: int
    y: int
    order: int
    step: int


class PatternPicture(Struct, frozen=True):
    """A grid of cells in pixels."""

    title: str
    wide: int
    high: int
    side: int
    cells: tuple[PatternCell, ...]


def draw_pattern(reference: ArrayReference) -> PatternPicture | None:
    """Return the picture of a reference; None where no small instance is known, or few elements lie together."""
    first = reference.visits[0] if reference.visits else ()
    seen = [v for v in reference.visits if v[:-2] == first[:-2]]
    if not seen:
        return None
    points = [(v[-2] if len(v) > 1 else 0, v[-1]) for v in seen]
    top, left = min(0, *(y for y, _ in points)), min(0, *(x for _, x in points))
    order = {point: place + 1 for place, point in enumerate(points)}
    drawn = [(y, x) for y, x in points if y < top + _MOST and x < left + _MOST]
    if len(drawn) < min(_FEWEST, len(points)):
        return None
    rows, columns = max(y for y, _ in drawn) - top + 1, max(x for _, x in drawn) - left + 1
    cells = tuple(
        _cell(x, y, order.get((y + top, x + left), 0), len(points)) for y in range(rows) for x in range(columns)
    )
    side = _SIDE + _GAP
    title = f"{reference.text}: {', '.join(reference.classes)}; the numbers are the order of the iterations"
    return PatternPicture(title, columns * side, rows * side, _SIDE, cells)


def _cell(x: int, y: int, order: int, count: int) -> PatternCell:
    side = _SIDE + _GAP
    return PatternCell(x * side, y * side, order, 1 + (order - 1) * _STEPS // count if order else 0)
