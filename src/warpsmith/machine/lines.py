"""How many cache lines (or sectors) the threads of a box touch with one array reference.

    threads b0 x b1 x b2, address = base + a0*t0 + a1*t1 + a2*t2, line of CS elements

    stride small (|a| <= CS):  |####|####|####|       consecutive threads skip no line: the span counts
    stride large (|a| >  CS):  |#   |    |#   |       every thread has its own lines: the strides multiply

    L = PROD over large strides of b_r * ( floor( (o + SUM over small strides |a_r| (b_r - 1)) / CS ) + 1 )

Invariant: exact where the large strides keep the boxes of the small ones on distinct lines (an unknown stride is taken
to do so), and where the small strides leave no line of their span out: a stride of at most CS cannot.
Limits: lines shared between boxes are not known here; the first touched element is `offset` elements into its line.
Source: the static profiler of the IHOP parallelizer, its 36 table entries replaced by this one formula.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["count_lines"]


def count_lines(strides: Sequence[int | None], box: Sequence[int], line: int, offset: int = 0) -> int:
    """Return the number of lines that a box of threads touches.

    `strides[r]`: elements the address moves from one thread to the next along dimension r (None: unknown, so large);
    `box[r]`: threads along r; `line`: elements a line; `offset`: place of the lowest touched element in its line.
    """
    apart = 1
    span = offset
    for stride, threads in zip(strides, box, strict=True):
        if stride is None or abs(stride) > line:
            apart *= threads
        else:
            span += abs(stride) * (threads - 1)
    return apart * (span // line + 1)
