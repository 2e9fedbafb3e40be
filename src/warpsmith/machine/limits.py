"""The limits of a launch on any GPU (CUDA C++ Programming Guide, compute capabilities ≥ 3.0; HIP alike)."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["MAX_BLOCK", "MAX_GRID", "MAX_THREADS", "block_fits", "grid_fits"]

MAX_THREADS = 1024
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)


def block_fits(block: Sequence[int]) -> bool:
    """Whether (x, y, z) threads may form one block."""
    volume = block[0] * block[1] * block[2]
    return all(1 <= b <= most for b, most in zip(block, MAX_BLOCK, strict=True)) and volume <= MAX_THREADS


def grid_fits(count: int, block: int, axis: int) -> bool:
    """Whether `count` threads along `axis` (0, 1, 2 for x, y, z), `block` of them a block, fit into one grid."""
    return -(-count // block) <= MAX_GRID[axis]
