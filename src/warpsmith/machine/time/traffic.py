"""How much of what warps ask for each memory answers.

    warps ask ──► first cache ──► second cache ──► memory
    every sector     what a block touches, once     what the blocks that run together touch, once; the next ones find
                                                    what they share with them

Warps of a multiprocessor are taken to go through loops side by side. What a loop touches again in its next iteration,
or what another loop touched before it, is still there if what all resident warps touch meanwhile fits in the cache
(the layer condition); else it comes again, as often as the loop repeats. A cache has room for lines of 128 bytes,
whether all of their sectors are there or not. Stores go through the first cache. What is written goes to memory once,
unless it leaves the cache between two stores; what a store has touched first is not read from memory.

Source: Hammer, Eitzinger, Hager, Wellein, "Kerncraft: A Tool for Analytic Performance Modeling of Loop Kernels" (2017)
for layer conditions; Ernst, Hager, Thies, Wellein, "Analytical performance estimation during code generation on modern
GPUs" (2022) for their use between blocks. Limits: caches are taken to keep the newest lines of each set, and lines to
come to sets as if by chance; iterations of a loop are taken to touch about as much each.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import erfc, sqrt
from typing import Final

from msgspec import Struct

from warpsmith.machine.time.work import LINE_BYTES, SECTOR_BYTES, LaunchWork, Sweep, TouchedSectors

__all__ = ["Traffic", "traffic"]


_WAYS: Final = 16
"""Lines of a set; how many the sets of GPUs have is not published."""
_MOSTLY: Final = 0.99


class Traffic(Struct, frozen=True):
    """Bytes that the second cache and memory move."""

    l2_bytes: float
    memory_bytes: float


def traffic(work: LaunchWork, l1_bytes: float, l2_bytes: float) -> Traffic:
    """Return the traffic of a launch; `l1_bytes`: of a multiprocessor, beside shared memory; 0: there is no cache."""
    loads = _after_first(work, l1_bytes)
    stores = work.store_sectors
    second = (loads + stores + work.local_sectors) * SECTOR_BYTES
    if not l2_bytes:
        return Traffic(0, second)
    read = work.read if work.fetched is None else work.fetched
    found = _once(read, work, l2_bytes) + _again(work.sweeps, work.read, work, l2_bytes)
    stored = _once(work.written, work, l2_bytes) + _again(work.stores, work.written, work, l2_bytes)
    return Traffic(second, (min(loads, found) + min(stores, stored)) * SECTOR_BYTES)


def _after_first(work: LaunchWork, l1_bytes: float) -> float:
    """Return the sectors of loads that the first cache does not have."""
    if not l1_bytes:
        return work.load_sectors
    once = work.read.block * work.blocks
    units = work.running_blocks // work.resident_blocks
    there = min(work.resident_blocks, -(-(work.read.active or work.blocks) // units))
    return min(work.load_sectors, once * (1.0 + _more(work.sweeps, l1_bytes / there)))


def _once(touched: TouchedSectors, work: LaunchWork, l2_bytes: float) -> float:
    """Return the sectors that the second cache does not have, if what a block has touched is found again."""
    if touched.grid * SECTOR_BYTES <= l2_bytes:
        return touched.grid
    blocks = touched.active or work.blocks
    waves = max(1.0, blocks / min(blocks, work.running_blocks))
    alone = _alone(touched, l2_bytes)
    return max(touched.together + alone + (waves - 1.0) * (_fresh(touched, l2_bytes) + alone), touched.grid)


def _again(sweeps: Sequence[Sweep], touched: TouchedSectors, work: LaunchWork, l2_bytes: float) -> float:
    """Return the sectors that the second cache does not have any more when a block comes to them again."""
    if touched.grid * SECTOR_BYTES <= l2_bytes:
        return 0.0
    running = min(touched.active or work.blocks, work.running_blocks)
    return touched.block * work.blocks * _more(sweeps, l2_bytes / running, second=True)


def _alone(touched: TouchedSectors, l2_bytes: float) -> float:
    """Return the sectors that come again because those who share them do not keep step: as long as these are ahead by
    more than the cache holds."""
    if touched.apart <= touched.together:
        return 0.0
    kept = min(1.0, l2_bytes / (touched.lag * touched.apart * SECTOR_BYTES))
    return (touched.apart - touched.together) * (1.0 - kept)


def _fresh(touched: TouchedSectors, l2_bytes: float) -> float:
    """Return the sectors that blocks bring which run next: they find what they share with those before, as far back as
    all of it stays."""
    found, spans = touched.together, (touched.together, touched.twice, *touched.wider)
    for power, (before, span) in enumerate(pairwise(spans)):
        gone = _gone(span * SECTOR_BYTES, l2_bytes)
        found = gone * found + (1.0 - gone) * (span - before) / 2**power
        if gone > _MOSTLY:
            break
    return found


def _more(sweeps: Sequence[Sweep], room: float, *, second: bool = False) -> float:
    """Return how much comes to a block besides what it touches, as a part of that; `room`: bytes that it has of a
    cache; `second`: of the second, which has what several blocks touch once, and what stores left there."""
    whole = more = 0.0
    for sweep in sweeps:
        behind = sweep.again >= 0 and (second or sweep.loaded)
        held = sweep.together if second else sweep.held
        share = sweep.shared if second else 1.0
        gone = [_gone(lines * LINE_BYTES, room) for lines in held]
        if second and sweep.near:
            gone[0] = _gone(share * sweep.lines * LINE_BYTES, room)
        misses = _misses(sweep, gone)
        if behind:
            more += sweep.part * share * gone[min(sweep.again, len(gone) - 1)] * misses
        else:
            whole += sweep.part * sweep.sectors[-1]
            more += sweep.part * share * (misses - sweep.sectors[-1])
        # what other accesses of an iteration touch as well: there is one between two of them
        more += (1.0 - sweep.part) * share * _gone(share * sweep.lines * LINE_BYTES, room) * misses
    return more / whole if whole else 0.0


def _misses(sweep: Sweep, gone: Sequence[float]) -> float:
    """Return the sectors that come to a block for one access."""
    missed = sweep.sectors[0]
    for level, times in enumerate(sweep.times):
        inner, outer = sweep.sectors[level], sweep.sectors[level + 1]
        grows = outer / inner if inner else 0.0
        missed *= grows + gone[level] * (max(grows, times) - grows)
    return missed


def _gone(bytes: float, room: float) -> float:
    """Return which part of what was touched is not there any more when so many bytes were touched since. A line goes
    when as many others came to its set as that has ways: how many come to a set is spread as if by chance (Poisson)."""
    if not room:
        return 1.0
    come = _WAYS * bytes / room
    return 0.5 * erfc((_WAYS - 0.5 - come) / sqrt(2.0 * come)) if come else 0.0
