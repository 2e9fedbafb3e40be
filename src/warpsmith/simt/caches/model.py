"""The caches of a GPU, the requests that they are fed, and what is counted."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from msgspec import Struct

from warpsmith.simt.engine.words import Array

__all__ = ["LINE_SECTORS", "CacheCounts", "CacheGeometry", "OrderedRequests", "geometry_of", "hashed_set"]

LINE_SECTORS: Final = 4
"""Sectors of 32 bytes in a line, in both caches."""
_LINE_BYTES: Final = 32 * LINE_SECTORS
_WAYS: Final = 16


class CacheGeometry(Struct, frozen=True):
    """`units` multiprocessors with a first cache each, of `first_sets` sets of `first_ways` lines, for the `resident`
    blocks that run on it at once; one second cache behind them. No sets: there is no such cache."""

    units: int
    resident: int
    first_sets: int
    first_ways: int
    second_sets: int
    second_ways: int


class OrderedRequests(Struct, frozen=True):
    """The requests of a launch, those of a block in the order in which they are served.

    starts [blocks + 1]       where the records of each block begin
    kinds, arrays [records]   0 load, 1 store, 2 atomic; the number of the array that the first sector is in
    places [records + 1]      where its sectors begin
    sectors [sectors]         addresses / 32
    """

    starts: Array
    kinds: Array
    arrays: Array
    places: Array
    sectors: Array

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return len(self.starts) - 1


class CacheCounts(IntEnum):
    """What is counted for each array, in sectors: loads; those of them that the first cache had; loads and atomics
    that the second had, and that it read from memory; stores; what went back to memory; atomics."""

    LOADS = 0
    FIRST_HITS = 1
    SECOND_HITS = 2
    READ = 3
    STORES = 4
    WRITTEN = 5
    ATOMICS = 6


def geometry_of(units: int, resident: int, first_bytes: float, second_bytes: float) -> CacheGeometry:
    """Return caches of these sizes with 16 lines in a set: how GPUs choose sets, and how many lines these have, is not
    published."""
    sets = [int(size) // (_LINE_BYTES * _WAYS) for size in (first_bytes, second_bytes)]
    return CacheGeometry(units, resident, sets[0], _WAYS, sets[1], _WAYS)


def hashed_set(line: int, sets: int) -> int:
    """Return the set of a line: by Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4), so that strides
    of powers of two do not meet in one."""
    return ((line * 0x9E3779B97F4A7C15) % 2**64 >> 32) % sets
