"""The rules of the caches, as they are meant: slow, and what the compiled machine is held against.

    blocks     start in their order, `resident` on each multiprocessor; where one ends, the next one starts
    turns      each running block has one request served, in a turn
    load       the first cache of the multiprocessor, then the second, then memory; each keeps what comes through it
    store      goes to the second cache, which keeps it until the line has to make room; it reads nothing for that
    atomic     happens in the second cache
    lines      are 128 bytes, of which only the sectors are there that were asked for; the line that was asked for
               longest ago makes room

Limits: requests take no time, so a block of few requests is not overtaken; a partly written sector counts as a whole
one; local memory is left out.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from warpsmith.simt.caches.model import LINE_SECTORS, CacheCounts, CacheGeometry, OrderedRequests, hashed_set
from warpsmith.simt.engine.words import Array

__all__ = ["simulate_caches"]


class SectoredLine(Struct):
    """A line: which of its sectors are there, and which were written since they came."""

    array: int
    there: set[int]
    dirty: set[int]


class SectoredCache:
    """A cache: in each set lines by their numbers, the one that was asked for last at the end."""

    def __init__(self, sets: int, ways: int) -> None:
        self.ways = ways
        self.sets: list[dict[int, SectoredLine]] = [{} for _ in range(sets)]

    def line(self, number: int, array: int) -> tuple[SectoredLine | None, SectoredLine | None]:
        """Return the line with a number, empty where it was not there, and the one that made room for it."""
        if not self.sets:
            return None, None
        held = self.sets[hashed_set(number, len(self.sets))]
        found, gone = held.pop(number, None), None
        if found is None:
            found = SectoredLine(array, set(), set())
            if len(held) == self.ways:
                gone = held.pop(next(iter(held)))
        held[number] = found
        return found, gone


class CachesOfLaunch:
    """All caches of a GPU; `counts` [arrays, CacheCounts]."""

    def __init__(self, geometry: CacheGeometry, arrays: int) -> None:
        self.first = [SectoredCache(geometry.first_sets, geometry.first_ways) for _ in range(geometry.units)]
        self.second = SectoredCache(geometry.second_sets, geometry.second_ways)
        self.counts: Array = np.zeros((arrays, len(CacheCounts)), "<i8")

    def serve(self, unit: int, kind: int, array: int, sector: int) -> None:
        """Serve a request for one sector by a multiprocessor."""
        row = self.counts[array]
        if kind == 0:
            row[CacheCounts.LOADS] += 1
            line, _ = self.first[unit].line(sector // LINE_SECTORS, array)
            if line is not None and sector in line.there:
                row[CacheCounts.FIRST_HITS] += 1
                return
            if line is not None:
                line.there.add(sector)
            self.ask_second(sector, array, writes=False)
        elif kind == 1:
            row[CacheCounts.STORES] += 1
            line = self.second_line(sector, array)
            if line is None:
                row[CacheCounts.WRITTEN] += 1
            else:
                line.there.add(sector)
                line.dirty.add(sector)
        else:
            row[CacheCounts.ATOMICS] += 1
            self.ask_second(sector, array, writes=True)

    def ask_second(self, sector: int, array: int, *, writes: bool) -> None:
        """Ask the second cache for a sector."""
        line = self.second_line(sector, array)
        there = line is not None and sector in line.there
        self.counts[array][CacheCounts.SECOND_HITS if there else CacheCounts.READ] += 1
        if line is None:
            self.counts[array][CacheCounts.WRITTEN] += writes
            return
        line.there.add(sector)
        if writes:
            line.dirty.add(sector)

    def second_line(self, sector: int, array: int) -> SectoredLine | None:
        """Return the line of a sector in the second cache; what made room for it goes to memory."""
        line, gone = self.second.line(sector // LINE_SECTORS, array)
        self.write_back(gone)
        return line

    def write_back(self, line: SectoredLine | None) -> None:
        """Write what is dirty to memory."""
        if line is not None:
            self.counts[line.array][CacheCounts.WRITTEN] += len(line.dirty)

    def end(self) -> None:
        """Write all that is dirty to memory."""
        for held in self.second.sets:
            for line in held.values():
                self.write_back(line)


def simulate_caches(geometry: CacheGeometry, requests: OrderedRequests, arrays: int) -> Array:
    """Return what is counted of a launch [arrays, CacheCounts]; what is dirty in the end goes to memory."""
    caches = CachesOfLaunch(geometry, arrays)
    slots = [range(0)] * (geometry.units * geometry.resident)
    following = iter(range(requests.blocks))
    left = True
    while left:
        left = False
        for slot in range(len(slots)):
            while not slots[slot] and (block := next(following, None)) is not None:
                slots[slot] = range(*requests.starts[block : block + 2].tolist())
            if slots[slot]:
                record, slots[slot] = slots[slot][0], slots[slot][1:]
                _serve(caches, slot % geometry.units, requests, record)
                left = True
    caches.end()
    return caches.counts


def _serve(caches: CachesOfLaunch, unit: int, requests: OrderedRequests, record: int) -> None:
    first, last = requests.places[record : record + 2].tolist()
    for sector in requests.sectors[first:last].tolist():
        caches.serve(unit, int(requests.kinds[record]), int(requests.arrays[record]), sector)
