"""The bytes that blocks touch, as intervals; loops repeat them at a stride.

    one iteration     |##|      |##|
    eight of them     |##|##|##|##|##|##|##|##|  |##|##| …        joined where they meet

The union over j < n of I + j·s is made by doubling: what covers m shifts, moved by m·s, covers 2·m. Groups (a block of
threads, and the array that an address leads into) never mix.

Invariant: exactly the bytes that the lanes ask for. Limits: where a stride is not the same for all lanes of a group,
every lane is repeated by itself; beyond MOST intervals nothing is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from warpsmith.analysis.counts.columns import Column

__all__ = [
    "MOST",
    "REGION",
    "Intervals",
    "TooManyIntervalsError",
    "is_uniform",
    "join",
    "repeated",
    "touched_units",
    "union_of",
]

MOST: Final = 2_000_000
_FARTHEST: Final = 1 << 62
REGION: Final = 1 << 40
"""Bytes between two arrays whose addresses are not known."""


class TooManyIntervalsError(Exception):
    """A footprint has more pieces than are kept."""


class Intervals(Struct, frozen=True):
    """Bytes from `low` to before `high` of the memory of `group`, sorted and joined within a group."""

    group: Column
    low: Column
    high: Column


def join(group: Column, low: Column, high: Column, gap: int = 0) -> Intervals:
    """Return intervals sorted, and joined where they meet or no more than `gap` lies between."""
    if len(low) > MOST:
        raise TooManyIntervalsError
    order = np.lexsort((low, group))
    group, low, high = group[order], low[order], high[order]
    if not len(low):
        return Intervals(group, low, high)
    first_of_group = np.append(True, group[1:] != group[:-1])
    rank = np.cumsum(first_of_group) - 1
    base = low[first_of_group][rank]
    # groups stand so far apart that the largest end so far is one of the same group
    far = int((high - base).max()) + gap + 1
    if far * (int(rank[-1]) + 1) > _FARTHEST:
        raise TooManyIntervalsError
    ends = np.maximum.accumulate(rank * far + (high - base))
    starts = rank * far + (low - base)
    fresh = first_of_group | np.append(True, starts[1:] > ends[:-1] + gap)
    first = np.flatnonzero(fresh)
    last = np.append(first[1:], len(low)) - 1
    return Intervals(group[first], low[first], ends[last] - rank[last] * far + base[last])


def union_of(parts: Sequence[Intervals]) -> Intervals:
    """Return the union of what several have of each group."""
    if not parts:
        return touched_units((), 1)
    group, low, high = (np.concatenate([getattr(p, name) for p in parts]) for name in ("group", "low", "high"))
    return join(group, low, high)


def repeated(found: Intervals, stride: Column, times: int) -> Intervals:
    """Return the union of `times` copies, each `stride` bytes behind the one before; a stride for each interval."""
    if times <= 1 or not len(found.low) or not stride.any():
        return found
    if not is_uniform(found.group, stride):
        return _repeat_each(found, stride, times)
    by_group = dict(zip(found.group.tolist(), stride.tolist(), strict=True))
    covered = 1
    while covered < times:
        moved = min(covered, times - covered)
        step = np.array([by_group[g] for g in found.group.tolist()], np.int64) * moved
        found = join(
            np.concatenate((found.group, found.group)),
            np.concatenate((found.low, found.low + step)),
            np.concatenate((found.high, found.high + step)),
        )
        covered += moved
    return found


def is_uniform(group: Column, stride: Column) -> bool:
    """Whether intervals of one group have one stride."""
    order = np.argsort(group, kind="stable")
    group, stride = group[order], stride[order]
    return not ((group[1:] == group[:-1]) & (stride[1:] != stride[:-1])).any()


def _repeat_each(found: Intervals, stride: Column, times: int) -> Intervals:
    if len(found.low) * times > MOST:
        raise TooManyIntervalsError
    moved = (np.arange(times)[:, None] * stride[None, :]).reshape(-1)
    group, low, high = (np.tile(c, times) for c in (found.group, found.low, found.high))
    return join(group, low + moved, high + moved)


def touched_units(found: Sequence[Intervals], unit: int) -> Intervals:
    """Return the units (sectors, lines) that intervals touch, numbered: from `low` to before `high`."""
    if not found:
        return Intervals(*(np.zeros(0, np.int64) for _ in range(3)))
    group, low, high = (np.concatenate([getattr(f, name) for f in found]) for name in ("group", "low", "high"))
    return join(group, low // unit, -(-high // unit))
