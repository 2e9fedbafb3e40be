"""How many blocks a kernel is launched in, as its launcher computes it.

along an axis    (threads + block - 1) / block     a warp a block where they are few
                                                   cut off where threads walk on in steps of the grid
                                                   in slices where the axis may need more than a grid has
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from warpsmith.emit.device.reduction import MOST_BLOCKS
from warpsmith.machine.limits import MAX_GRID
from warpsmith.tree.program import WARP, Kernel

__all__ = ["LaunchedGrid", "launched_grid", "most_blocks"]

_AXES: Final = "xyz"


class LaunchedGrid(Struct, frozen=True):
    """The grid of a launch, its block, and how many launches of it there are: `slices` of the axes that are too
    long."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    slices: int


def most_blocks(kernel: Kernel, axis: str) -> int:
    """Return how many blocks a grid may have along an axis; those of a reduction are few enough for one more block to
    combine their values."""
    at = _AXES.index(axis)
    if not kernel.reductions:
        return MAX_GRID[at]
    shares = {1: (MOST_BLOCKS, 1, 1), 2: (32, MOST_BLOCKS // 32, 1), 3: (16, 8, MOST_BLOCKS // 128)}
    return shares[len(kernel.mapped)][at]


def launched_grid(kernel: Kernel, threads: Mapping[str, int], *, shared: bool = False) -> LaunchedGrid | None:
    """Return the grid for so many iterations along each axis that a loop is mapped to; None: nothing is launched.
    `shared`: several threads share an iteration along x."""
    if any(count <= 0 for count in threads.values()):
        return None
    sizes, slices = [1, 1, 1], 1
    x = threads.get("x", 1)
    block, covered = kernel.block_of(x), kernel.covered_by(kernel.block_of(x))
    if shared and kernel.sharing is not None:
        block = kernel.shared_block_of(x)
        covered = (WARP if kernel.sharing.column else block[0] // kernel.sharing.width, 1, 1)
    for at, axis in enumerate(_AXES):
        blocks = -(-threads.get(axis, 1) // covered[at])
        sizes[at] = min(blocks, most_blocks(kernel, axis))
        slices *= 1 if axis in kernel.strided else -(-blocks // sizes[at])
    return LaunchedGrid((sizes[0], sizes[1], sizes[2]), block, slices)
