"""Sums of indices that are digits of one number: 16·blockIdx.x + threadIdx.x, where a block has 16 threads along x.

    256·b + t      t < 256        digits (b), (t): no two pairs make the same number
    4·i + t        t < 256        one digit: i + 1, t - 4 is the same number
    128·y + k      k < 128        digits, of indices of two axes: taken as a[y][k]

A split is proved: the finer indices span less than the greatest common divisor of what the coarser ones are scaled by.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from warpsmith.analysis.patterns.columns import IndexColumn

__all__ = ["digits", "dimensions"]

Entries = tuple[int, ...]


def digits(entries: Sequence[int], columns: Sequence[IndexColumn]) -> tuple[Entries, ...]:
    """Return a row as rows whose sum it is, coarsest first, that stay the same wherever the row does."""
    movers = _movers(entries)
    for cut in range(1, len(movers)):
        if _splits(entries, columns, movers[:cut], movers[cut:]):
            coarse, fine = _keep(entries, movers[:cut]), _keep(entries, movers[cut:])
            return (*digits(coarse, columns), *digits(fine, columns))
    return (tuple(entries),)


def dimensions(entries: Sequence[int], columns: Sequence[IndexColumn]) -> tuple[Entries, ...]:
    """Return a row as the rows of an array of rows of a known length, where no index is on both sides."""
    movers = _movers(entries)
    for cut in range(1, len(movers)):
        coarse, fine = movers[:cut], movers[cut:]
        whole = any(_is_one_index(entries, columns, a, b) for a in coarse for b in fine)
        if not whole and _splits(entries, columns, coarse, fine):
            rest = _keep(entries, fine)
            alike = len({columns[k].kind == "loop" for k in fine}) == 1
            return (_keep(entries, coarse), *(dimensions(rest, columns) if alike else (rest,)))
    return (tuple(entries),)


def _movers(entries: Sequence[int]) -> list[int]:
    return sorted((k for k, entry in enumerate(entries) if entry), key=lambda k: -abs(entries[k]))


def _splits(entries: Sequence[int], columns: Sequence[IndexColumn], coarse: Sequence[int], fine: Sequence[int]) -> bool:
    span = 0
    for k in fine:
        extent = columns[k].extent
        if extent is None:
            return False
        span += abs(entries[k]) * (extent - 1)
    return gcd(*(entries[k] for k in coarse)) > span


def _is_one_index(entries: Sequence[int], columns: Sequence[IndexColumn], coarse: int, fine: int) -> bool:
    """Whether two columns make one index together: those of one loop or axis. Where the axis has digits, only if they
    are scaled like those of one number: 16·(tid.x/16) + tid.x%16 is tid.x, and 17·(tid.x/16) + tid.x%16 is not."""
    one, other = columns[coarse], columns[fine]
    if (one.axis or one.header) != (other.axis or other.header):
        return False
    digits = [c for c in columns if c.kind == "thread" and c.axis == one.axis]
    if one.kind == "loop" or len(digits) < 2:
        return True
    widths = [digits[0].width * (digits[0].extent or 1) if c.kind == "block" else c.width for c in (one, other)]
    return abs(entries[coarse]) * widths[1] == abs(entries[fine]) * widths[0]


def _keep(entries: Sequence[int], kept: Sequence[int]) -> Entries:
    return tuple(entry if k in kept else 0 for k, entry in enumerate(entries))
