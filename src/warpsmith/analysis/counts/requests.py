"""What the requests of warps cost, for many warps at once: the numbers of `machine/requests.py`, in columns.

    addresses (a row a warp, a column a lane), who is there ──► sectors, passes of the banks, words

Invariant: each row gives what machine/requests.py gives for its lanes; the random test beside it says so.
"""

from __future__ import annotations

import numpy as np

from warpsmith.analysis.counts.columns import Column
from warpsmith.machine.requests import BANKS, SECTOR, WORD

__all__ = ["count_local_sectors", "count_sectors", "count_ways", "count_words"]


def count_sectors(addresses: Column, there: Column, size: int, unit: int = SECTOR) -> Column:
    """Return how many sectors, or other units of memory, each row touches."""
    first, last = addresses // unit, (addresses + size - 1) // unit
    widest = int((last - first)[there].max(initial=0)) + 1
    parts = [np.minimum(first + n, last) for n in range(widest)]
    return _count_different(np.concatenate(parts, axis=1), np.tile(there, (1, widest)))


def count_words(addresses: Column, there: Column, size: int) -> Column:
    """Return how many different words each row asks constant memory for."""
    return _count_different(addresses // max(size, WORD), there)


def count_local_sectors(addresses: Column, there: Column, size: int) -> Column:
    """Return how many sectors of interleaved local memory each row touches."""
    group = np.arange(addresses.shape[1]) // (SECTOR // WORD)
    first, last = addresses // WORD, (addresses + size - 1) // WORD
    widest = int((last - first)[there].max(initial=0)) + 1
    parts = [np.minimum(first + n, last) * addresses.shape[1] + group for n in range(widest)]
    return _count_different(np.concatenate(parts, axis=1), np.tile(there, (1, widest)))


def count_ways(addresses: Column, there: Column, size: int) -> Column:
    """Return how many passes the worst phase of each row needs."""
    width = addresses.shape[1]
    lanes = 32 if size <= WORD else 16 if size <= 2 * WORD else 8
    ways = np.zeros(len(addresses), np.int64)
    for start in range(0, width, lanes):
        part = slice(start, start + lanes)
        ways = np.maximum(ways, _phase(addresses[:, part], there[:, part], size))
    return ways


def _phase(addresses: Column, there: Column, size: int) -> Column:
    """Return the most different words that a bank is asked for."""
    first, last = addresses // WORD, (addresses + size - 1) // WORD
    widest = int((last - first)[there].max(initial=0)) + 1
    words = np.concatenate([np.minimum(first + n, last) for n in range(widest)], axis=1)
    here = np.tile(there, (1, widest))
    # of equal words one is kept: they stand beside each other when sorted
    words = np.sort(np.where(here, words, np.iinfo(np.int64).max), axis=1)
    fresh = np.ones_like(here)
    fresh[:, 1:] = words[:, 1:] != words[:, :-1]
    fresh &= words != np.iinfo(np.int64).max
    rows = np.broadcast_to(np.arange(len(words))[:, None], words.shape)
    loads = np.bincount((rows * BANKS + words % BANKS)[fresh], minlength=len(words) * BANKS)
    most: Column = loads.reshape(-1, BANKS).max(axis=1, initial=0)
    return most


def _count_different(numbers: Column, there: Column) -> Column:
    """Return how many different numbers each row has."""
    low = np.iinfo(np.int64).min
    ordered = np.sort(np.where(there, numbers, low), axis=1)
    fresh = ordered[:, 1:] != ordered[:, :-1]
    count: Column = fresh.sum(axis=1) + (ordered[:, 0] != low)
    return count
