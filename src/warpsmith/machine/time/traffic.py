"""How much of what warps ask for each memory answers.

    warps ask ──► first cache ──► second cache ──► memory
    every sector     what a block touches, once     what the blocks that run together touch, once; the next ones find
                                                    what they share with them

Warps of a multiprocessor are taken to go through loops side by side. What a loop touches again in its next iteration is
still there if what all resident warps touch in one iteration fits in the cache (the layer condition); else it comes
again, as often as the loop repeats. A cache has room for lines of 128 bytes, whether all of their sectors are there or
not. Stores go through the first cache. What is written goes to memory once.

Source: Hammer, Eitzinger, Hager, Wellein, "Kerncraft: A Tool for Analytic Performance Modeling of Loop Kernels" (2017)
for layer conditions; Ernst, Hager, Thies, Wellein, "Analytical performance estimation during code generation on modern
GPUs" (2022) for their use between blocks. Limits: caches are taken to be fully associative and to keep
the newest; loops whose iterations are
counted one by one are taken to find everything again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from warpsmith.machine.time.work import LINE_BYTES, SECTOR_BYTES, LaunchWork, Sweep, TouchedSectors

__all__ = ["Traffic", "traffic"]


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
    read = _after_second(work.read, loads, work, l2_bytes)
    written = _after_second(work.written, stores, work, l2_bytes)
    return Traffic(second, (read + written) * SECTOR_BYTES)


def _after_first(work: LaunchWork, l1_bytes: float) -> float:
    """Return the sectors of loads that the first cache does not have."""
    if not l1_bytes:
        return work.load_sectors
    once = min(work.load_sectors, work.read.block * work.blocks)
    units = work.running_blocks // work.resident_blocks
    there = min(work.resident_blocks, -(-work.blocks // units))
    return min(work.load_sectors, once * _again(work.sweeps, l1_bytes / there))


def _after_second(touched: TouchedSectors, asked: float, work: LaunchWork, l2_bytes: float) -> float:
    """Return the sectors that the second cache does not have."""
    if not asked:
        return 0.0
    if touched.grid * SECTOR_BYTES <= l2_bytes:
        return min(asked, touched.grid)
    running = min(work.blocks, work.running_blocks)
    waves = max(1.0, work.blocks / running)
    once = max(touched.together + (waves - 1.0) * _fresh(touched, l2_bytes), touched.grid)
    sweeps = work.sweeps if touched is work.read else ()
    return min(asked, once * _again(sweeps, l2_bytes / running, shared=True))


def _fresh(touched: TouchedSectors, l2_bytes: float) -> float:
    """Return the sectors that blocks bring which run next: they find what they share with those before, as far back as
    all of it stays."""
    found, spans = touched.together, (touched.together, touched.twice, *touched.wider)
    for power, (before, span) in enumerate(pairwise(spans)):
        if span * SECTOR_BYTES > l2_bytes:
            break
        found = (span - before) / 2**power
    return found


def _again(sweeps: Sequence[Sweep], room: float, *, shared: bool = False) -> float:
    """Return how often what is touched comes anew, on average; `room`: bytes that a block has of a cache; `shared`:
    what several blocks touch has its place there once."""
    whole = sum(sweep.sectors[-1] for sweep in sweeps)
    if not whole:
        return 1.0
    shares = [sweep.shared if shared else 1.0 for sweep in sweeps]
    return sum(_misses(sweep, sweeps, shares, room) for sweep in sweeps) / whole


def _misses(sweep: Sweep, sweeps: Sequence[Sweep], shares: Sequence[float], room: float) -> float:
    """Return the sectors that come to a block for one load."""
    missed = sweep.sectors[0]
    for level, times in enumerate(sweep.times):
        inner, outer = sweep.sectors[level], sweep.sectors[level + 1]
        # counted from outside: loads of one loop share the cache in it
        depth = len(sweep.times) - level
        held = sum(
            share * other.lines[max(0, len(other.times) - depth)] for other, share in zip(sweeps, shares, strict=True)
        )
        fits = held * LINE_BYTES <= room
        missed = missed * outer / inner if fits and inner else missed * times
    return missed
