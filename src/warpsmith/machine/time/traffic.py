"""How much of what warps ask for each memory answers.

    warps ask ──► first cache ──► second cache ──► memory
    every sector     what a block touches once,     what the blocks that run together touch once, and not again
                     if it stays                    what the next ones find there, if it stays

What stays: a block's sectors where those of all resident blocks fit in the first cache, the sectors of all running
blocks where they fit in the second (the layer condition); between, the part that fits is taken to hit. Stores go
through the first cache. What is written goes to memory once.

Source: Hammer, Eitzinger, Hager, Wellein, "Kerncraft: A Tool for Analytic Performance Modeling of Loop Kernels" (2017)
for layer conditions; Ernst, Hager, Thies, Wellein, "Analytical performance estimation during code generation on modern
GPUs" (2022) for their use between blocks. Limits: caches are taken to be fully associative and to keep the newest.
"""

from __future__ import annotations

from msgspec import Struct

from warpsmith.machine.time.work import SECTOR_BYTES, LaunchWork, Touched

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
    once = min(work.load_sectors, work.read.block * work.blocks)
    held = work.read.block * SECTOR_BYTES * work.resident_blocks
    stays = min(1.0, l1_bytes / held) if held else 1.0
    return once + (1.0 - stays) * (work.load_sectors - once)


def _after_second(touched: Touched, asked: float, work: LaunchWork, l2_bytes: float) -> float:
    """Return the sectors that the second cache does not have."""
    if not asked:
        return 0.0
    together = touched.together * SECTOR_BYTES
    if touched.grid * SECTOR_BYTES <= l2_bytes:
        return min(asked, touched.grid)
    waves = max(1.0, work.blocks / max(1.0, _running(work)))
    stays = min(1.0, l2_bytes / together) if together else 1.0
    # blocks that run next find what they share with those before, where both stay
    fresh = touched.twice - touched.together if 2 * together <= l2_bytes else touched.together
    once = touched.together + (waves - 1.0) * fresh
    once = min(asked, max(once, touched.grid))
    return once + (1.0 - stays) * (asked - once)


def _running(work: LaunchWork) -> float:
    return min(work.blocks, work.running_blocks)
