"""What a pattern of accesses is called.

    for i, j, k       A[i][k]  row-major      B[k][j]  column-major     x[j]  row          y[i][0]  column
                      a[i+1][j-1]  row-major, offset by (1, -1)         a[i][n-1-j]  row-major, reversed in dimension 2
                      a[i][2*j]  row-major, strided by 2                a[j][j]  diagonal  a[i+j][j]  skewed
                      for j from i:  triangular                         x[idx[j]]  irregular

The order is that of the counters: row-major where outer counters move outer dimensions, so that the innermost one that
moves the element at all moves it along its row; column-major where it is the other way round.
Source: the patterns (a) to (f) of data placement by access patterns (DPoMAP), and their combinations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warpsmith.poly.patterns.model import MatrixRow

__all__ = ["classify"]


def classify(rows: Sequence[MatrixRow], *, triangular: bool) -> tuple[str, ...]:
    """Return the words for a reference with these rows; `triangular`: a loop that moves it has bounds that follow
    another one of the nest."""
    if any(row.irregular for row in rows):
        return ("irregular",)
    found = [_order(rows), *_list_offsets(rows), *_list_reversed(rows), *_list_strides(rows)]
    return tuple(found) + (("triangular",) if triangular and _movers(rows) else ())


def _movers(rows: Sequence[MatrixRow]) -> list[int]:
    return [k for row in rows for k, entry in enumerate(row.counters) if entry]


def _order(rows: Sequence[MatrixRow]) -> str:
    moved = [(dimension, _movers([row])) for dimension, row in enumerate(rows) if _movers([row])]
    if not moved:
        return "one element"
    if any(len(movers) > 1 for _, movers in moved):
        return "skewed"
    order = [movers[0] for _, movers in moved]
    if len(set(order)) < len(order):
        return "diagonal"
    if len(order) == 1:
        return "row" if moved[0][0] == len(rows) - 1 else "column"
    if order == sorted(order):
        return "row-major"
    return "column-major" if order == sorted(order, reverse=True) else "permuted"


def _list_offsets(rows: Sequence[MatrixRow]) -> Iterator[str]:
    """Yield how far a pattern is moved: of a reversed dimension that is part of the reversal."""
    offsets = [0 if _is_reversed(row) or not _movers([row]) else row.constant for row in rows]
    fixed = any(any(row.parameters) for row in rows if _movers([row]) and not _is_reversed(row))
    if any(offsets):
        yield f"offset by ({', '.join(map(str, offsets))})" if len(offsets) > 1 else f"offset by {offsets[0]}"
    if fixed:
        yield "offset by a parameter"


def _list_reversed(rows: Sequence[MatrixRow]) -> Iterator[str]:
    turned = [str(dimension + 1) for dimension, row in enumerate(rows) if _is_reversed(row)]
    if turned:
        yield f"reversed in dimension {', '.join(turned)}" if len(rows) > 1 else "reversed"


def _is_reversed(row: MatrixRow) -> bool:
    return any(isinstance(entry, int) and entry < 0 for entry in row.counters)


def _list_strides(rows: Sequence[MatrixRow]) -> Iterator[str]:
    entries = [entry for row in rows for entry in row.counters]
    wide = [str(abs(e)) if isinstance(e, int) else e for e in entries if not isinstance(e, int) or abs(e) > 1]
    if wide:
        yield f"strided by {', '.join(dict.fromkeys(wide))}"
