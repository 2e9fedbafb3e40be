"""Launches whose numbers can be worked out by hand."""

from __future__ import annotations

from warpsmith.machine.time.work import LaunchWork, TouchedSectors, WarpInstructions

__all__ = ["axpy", "work_of"]


def axpy(n: int, block: int = 256) -> LaunchWork:
    """Return y += a · x on `n` floats."""
    warps, blocks = n / 32, -(-n // block)
    running = 640
    read = TouchedSectors(2 * block / 8, 2 * block / 8 * running, 4 * block / 8 * running, 2 * n / 8)
    written = TouchedSectors(block / 8, block / 8 * running, 2 * block / 8 * running, n / 8)
    return work_of(
        blocks, block // 32, WarpInstructions(integer=6 * warps, single=warps, memory=3 * warps, control=warps),
        read, written, requests=3 * warps, load_sectors=8 * warps, store_sectors=4 * warps, lines=3 * warps,
        batches=warps, flops=2.0 * n,
    )  # fmt: skip


def work_of(
    blocks: int,
    block_warps: int,
    instructions: WarpInstructions,
    read: TouchedSectors,
    written: TouchedSectors,
    **given: float,
) -> LaunchWork:
    """Return a launch; what is not given is 0."""
    names = ("requests", "load_sectors", "store_sectors", "lines", "passes", "local_sectors", "words", "batches",
             "flops", "wide")  # fmt: skip
    numbers = {name: given.get(name, 0.0) for name in names}
    return LaunchWork(
        blocks, block_warps, 8, 640, instructions, numbers["requests"], numbers["load_sectors"],
        numbers["store_sectors"], numbers["lines"], numbers["passes"], numbers["local_sectors"], numbers["words"],
        numbers["batches"], read, written, (), 0, numbers["flops"], numbers["wide"],
    )  # fmt: skip
