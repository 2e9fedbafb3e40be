"""The shape of tiles with a halo: what a block and its neighbors read, and the block for which that is least.

    block 32 x 8, -1…1 along both:   10 rows of 34        340 elements for 256 threads that read five each

Invariant: a tile has an element for each place that a thread of the block reads, whether the thread is in the launch or
not. All tiles of a block fit into its shared memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.machine.limits import MAX_BLOCK, block_fits
from warpsmith.machine.lines import count_lines
from warpsmith.offload.mapping.halo.neighbors import HaloRead
from warpsmith.offload.mapping.mapping import is_wasteful
from warpsmith.offload.mapping.ranges import trip_count
from warpsmith.offload.mapping.tile_shape import MOST_BYTES, TileBlock
from warpsmith.tree.nodes import For

__all__ = ["HaloLayout", "choose_block", "count_bytes", "lay_out"]

_SECTOR: Final = 32
_NARROWEST: Final = 16


class HaloLayout(Struct, frozen=True):
    """How a read lies in shared memory: `by`, the loops that its tile has a dimension for, and their `extents`."""

    by: tuple[For, ...]
    extents: tuple[int, ...]

    @property
    def elements(self) -> int:
        """How many elements the tile has."""
        return prod(self.extents)


def lay_out(read: HaloRead, block: TileBlock) -> HaloLayout:
    """Return how a read lies in shared memory: a dimension for each counter that has several values in a block."""
    sizes = {loop: block.size(loop.variable) + read.reach[loop][1] - read.reach[loop][0] for loop in read.by}
    kept = tuple(loop for loop in read.by if sizes[loop] > 1)
    return HaloLayout(kept, tuple(sizes[loop] for loop in kept))


def count_bytes(reads: Sequence[HaloRead], block: TileBlock) -> int:
    """Return what the tiles of a block take."""
    return sum(lay_out(read, block).elements * read.bytes for read in reads)


def choose_block(reads: Sequence[HaloRead], given: TileBlock) -> TileBlock:
    """Return the block, of as many threads as the given one, with the fewest sectors of its tiles for each thread; the
    given one where none fits."""
    fitting = [block for block in _list_blocks(given) if count_bytes(reads, block) <= MOST_BYTES]
    return min(fitting, key=lambda block: _cost(reads, block), default=given)


def _cost(reads: Sequence[HaloRead], block: TileBlock) -> tuple[int, int]:
    """Return the sectors of the rows of all tiles; of blocks with as many the wider one is better for what has none."""
    sectors = 0
    for read in reads:
        layout = lay_out(read, block)
        stride = read.strides.get(layout.by[-1].variable)
        row = count_lines([stride], [layout.extents[-1]], max(1, _SECTOR // read.bytes))
        sectors += prod(layout.extents[:-1]) * row
    return sectors, -block.block[0]


def _list_blocks(given: TileBlock) -> Iterator[TileBlock]:
    """Yield the block, and others of as many threads along the axes that it has."""
    yield given
    if given.threads & (given.threads - 1):
        return
    powers = [1 << exponent for exponent in range(given.threads.bit_length())]
    trips: Mapping[str, int | None] = {
        axis: trip_count(head, {}) for head, axis in zip(given.heads, given.axes, strict=True)
    }
    for y, z in product(*(powers if axis in given.axes else [1] for axis in "yz")):
        x = given.threads // (y * z)
        block = x, y, z
        fits = x >= min(_NARROWEST, given.block[0]) and z <= MAX_BLOCK[2] and block_fits(block)
        wasteful = any(is_wasteful(size, trips.get(axis)) for axis, size in zip("xyz", block, strict=True))
        if fits and block != given.block and not wasteful:
            yield replace(given, block=block)
