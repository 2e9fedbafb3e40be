"""The shape of tiles: how many iterations one is wide, the shape of a block, and whether it is worth while.

    block 16 x 16, width 16:   A[i][k]  16 rows of 16     a warp reads 2 rows at a time: 8 sectors, for 16 iterations
                               B[k][j]  16 rows of 16     in place of 1 + 8 sectors a warp and iteration

Invariant: a tile is counted as the sectors that its rows have; a read without a tile as those of each warp. All tiles
of a block fit beside as many warps as there are without them.
Limits: rows are taken to start on a sector; what caches hold is not seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Final

from msgspec import Struct, field, structs

from warpsmith.machine.devices import device
from warpsmith.machine.limits import block_fits
from warpsmith.machine.lines import count_lines
from warpsmith.machine.occupancy import occupancy
from warpsmith.offload.mapping.mapping import is_wasteful
from warpsmith.offload.mapping.profile import size_of
from warpsmith.offload.mapping.ranges import trip_count
from warpsmith.offload.mapping.tiles import LoopReads, SharedRead
from warpsmith.poly.facts import ReferenceFact
from warpsmith.tree.nodes import For
from warpsmith.tree.program import Axis
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import walk

__all__ = ["MOST_BYTES", "Layout", "TileBlock", "TileShape", "choose_shape", "count_bytes", "lay_out"]

_SECTOR: Final = 32
_WARP: Final = 32
_BANK: Final = 4
_WIDTHS: Final = (32, 16, 8)
_NARROWEST: Final = 16
MOST_BYTES: Final = 48 * 1024
"""What the tiles of a block may have."""
# what a tile's barriers cost must be worth its while
_LEAST_GAIN: Final = 2.0


class TileBlock(Struct, frozen=True):
    """The loops that are threads, outermost first, the axis of each, and the threads of a block along x, y and z;
    `elements`: how many iterations along each axis one thread has; `padding`: how many elements more each row of a tile
    has (None: one, where lanes read along a column)."""

    heads: tuple[For, ...]
    axes: tuple[Axis, ...]
    block: tuple[int, int, int]
    elements: tuple[int, int, int] = (1, 1, 1)
    padding: int | None = None

    @property
    def threads(self) -> int:
        """The threads of a block."""
        return prod(self.block)

    def size(self, counter: Symbol) -> int:
        """Return how many iterations of the loop over a counter a block has."""
        found = next(axis for head, axis in zip(self.heads, self.axes, strict=True) if head.variable == counter)
        return self.along(found) * self.elements_along(found)

    def elements_along(self, axis: Axis) -> int:
        """Return how many iterations along an axis one thread has."""
        return self.elements["xyz".index(axis)]

    def along(self, axis: Axis) -> int:
        """Return the threads along an axis."""
        return self.block["xyz".index(axis)]

    def axis(self, counter: Symbol) -> Axis | None:
        """Return the axis of a counter; None where it is none of a thread's."""
        return next((a for h, a in zip(self.heads, self.axes, strict=True) if h.variable == counter), None)


class Layout(Struct, frozen=True):
    """How a read lies in shared memory: `by`, the loops that its tile has a dimension for, the `extents` of these, and
    how many elements more a row has, so that lanes that read along a column meet different banks."""

    by: tuple[For, ...]
    extents: tuple[int, ...]
    padding: int

    @property
    def rows(self) -> int:
        """The rows of the tile."""
        return prod(self.extents[:-1])

    @property
    def elements(self) -> int:
        """What the tile takes, padding and all."""
        return self.rows * (self.extents[-1] + self.padding)


class TileShape(Struct, frozen=True):
    """A block and, for each loop with tiles, how wide they are and which reads have one; `doubled`: the loops whose
    reads have two, of which one is filled while the other is used; `wide`: how many neighbors a thread loads at
    once."""

    block: TileBlock
    widths: Mapping[For, int]
    reads: Mapping[For, tuple[SharedRead, ...]]
    doubled: frozenset[For] = frozenset()
    wide: Mapping[For, int] = field(default_factory=dict)

    def stages(self, loop: For) -> int:
        """Return how many tiles a read of a loop has."""
        return 2 if loop in self.doubled else 1


def lay_out(read: SharedRead, block: TileBlock, width: int) -> Layout | None:
    """Return how a read lies in shared memory; None where the threads of a block cannot fill its rows evenly."""
    sizes = [(loop, block.size(loop.variable) if block.axis(loop.variable) else width) for loop in read.by]
    kept = [(loop, size) for loop, size in sizes if size > 1]
    if not kept or block.threads % kept[-1][1]:
        return None
    across = block.block[0] > 1 and any(block.axis(loop.variable) == "x" for loop, _ in kept[:-1])
    padding = int(across) if block.padding is None else block.padding
    return Layout(tuple(loop for loop, _ in kept), tuple(size for _, size in kept), padding)


def count_bytes(shape: TileShape) -> int | None:
    """Return what the tiles of a block take; None where its threads cannot fill them."""
    total = 0
    for loop, reads in shape.reads.items():
        for read in reads:
            layout = lay_out(read, shape.block, shape.widths[loop])
            if layout is None:
                return None
            total += layout.elements * read.bytes * shape.stages(loop)
    return total


class _Costs(Struct, frozen=True):
    """Counts sectors for each iteration of a loop and each thread. `references`: all that the nest touches."""

    references: Sequence[ReferenceFact]
    device: str

    def before(self, strides: Mapping[Symbol, int | None], bytes: int, block: TileBlock) -> float:
        """Return the sectors of a reference that every warp makes for itself."""
        box = _warp_box(block.block)
        found = [0 if (s := strides.get(head.variable, 0)) == 0 else s for head in block.heads]
        shape = [box["xyz".index(axis)] for axis in block.axes]
        return count_lines(found, shape, max(1, _SECTOR // bytes)) / prod(box)

    def after(self, read: SharedRead, layout: Layout, block: TileBlock, width: int) -> float:
        """Return the sectors of a tile's rows."""
        last = read.strides.get(layout.by[-1].variable)
        row = count_lines([last], [layout.extents[-1]], max(1, _SECTOR // read.bytes))
        return layout.rows * row / self.iterations(read, block, width) / (block.threads * prod(block.elements))

    def iterations(self, read: SharedRead, block: TileBlock, width: int) -> int:
        """Return how many iterations use one tile: no more than the loop has, where that is known."""
        loop = next(loop for loop in read.by if block.axis(loop.variable) is None)
        trips = trip_count(loop, {})
        return width if trips is None else max(1, min(width, trips))

    def others(self, loop: For, reads: Sequence[SharedRead], block: TileBlock) -> float:
        """Return the sectors of what has no tile in the loop."""
        own = {id(node) for read in reads for node in read.nodes}
        inside = {id(part) for part in walk(loop.body)}
        rest = [r for r in self.references if id(r.expr) in inside and id(r.expr) not in own]
        return sum(self.before(r.strides, size_of(r.element), block) for r in rest)


def choose_shape(
    found: Sequence[LoopReads],
    given: TileBlock,
    references: Sequence[ReferenceFact],
    device: str,
    *,
    fixed: bool,
    asked: int = 0,
) -> TileShape | None:
    """Return the block and the tiles with the fewest sectors; None where none have half as many as there are without.
    `given`: the block as it is, which stays if it is `fixed`; `device`: the GPU that all must fit; `asked`: tiles of
    this width for all reads, whatever they gain, if they fit into a block's shared memory."""
    costs = _Costs(references, device)
    loops = [one for one in found if one.reads]
    now = sum(_plain_cost(costs, one, given) for one in loops)
    best: tuple[float, TileShape] | None = None
    for block in [given] if fixed else _list_blocks(given):
        # rows as wide as the block are filled without a division
        for width in (asked,) if asked else sorted(_WIDTHS, key=lambda one: one != block.block[0]):
            shape = _fill(costs, loops, block, width) if not asked else _fill_all(loops, block, width)
            cost = None if shape is None else _cost(costs, loops, shape)
            if shape is not None and cost is not None and (best is None or cost < best[0]):
                best = cost, shape
    return best[1] if best is not None and (asked or best[0] * _LEAST_GAIN <= now) else None


def _plain_cost(costs: _Costs, one: LoopReads, block: TileBlock) -> float:
    own = sum(costs.before(read.strides, read.bytes, block) for read in one.reads)
    return own + costs.others(one.loop, one.reads, block)


def _cost(costs: _Costs, loops: Sequence[LoopReads], shape: TileShape) -> float:
    total = 0.0
    for one in loops:
        width, tiled = shape.widths.get(one.loop, 0), shape.reads.get(one.loop, ())
        for read in tiled:
            layout = lay_out(read, shape.block, width)
            assert layout is not None, "only what can be laid out is chosen"
            total += costs.after(read, layout, shape.block, width)
        total += costs.others(one.loop, tiled, shape.block)
    return total


def _fill(costs: _Costs, loops: Sequence[LoopReads], block: TileBlock, width: int) -> TileShape | None:
    """Return the tiles of one width that have fewer sectors than the reads of every warp, if they fit."""
    chosen: dict[For, tuple[SharedRead, ...]] = {}
    bytes = 0
    for one in loops:
        kept = [read for read in one.reads if _gains(costs, read, block, width)]
        # what all threads read at once is in L1 by then: no reason for barriers, but worth a place beside others
        if any(_is_of_threads(read, block) for read in kept):
            chosen[one.loop] = tuple(kept)
            layouts = [(read, lay_out(read, block, width)) for read in kept]
            bytes += sum(layout.elements * read.bytes for read, layout in layouts if layout is not None)
    if not chosen or not _fits(costs.device, block.threads, bytes):
        return None
    return TileShape(block, dict.fromkeys(chosen, width), chosen)


def _fill_all(loops: Sequence[LoopReads], block: TileBlock, width: int) -> TileShape | None:
    """Return tiles of one width for all reads, if they fit."""
    layouts = [(read, lay_out(read, block, width)) for one in loops for read in one.reads]
    found = [(read, layout) for read, layout in layouts if layout is not None]
    bytes = sum(layout.elements * read.bytes for read, layout in found)
    if not found or len(found) < len(layouts) or bytes > MOST_BYTES:
        return None
    return TileShape(block, {one.loop: width for one in loops}, {one.loop: one.reads for one in loops})


def _gains(costs: _Costs, read: SharedRead, block: TileBlock, width: int) -> bool:
    """Whether a tile has fewer sectors: threads share it, and its rows meet no bank twice."""
    layout = lay_out(read, block, width)
    if layout is None or not _is_reused(read, block):
        return False
    # two padded rows of words that a warp stores at once meet in a bank
    if layout.padding and read.bytes <= _BANK and layout.extents[-1] < _WARP:
        return False
    return costs.after(read, layout, block, width) < costs.before(read.strides, read.bytes, block)


def _is_reused(read: SharedRead, block: TileBlock) -> bool:
    own = {loop.variable for loop in read.by}
    return any(head.variable not in own and block.size(head.variable) > 1 for head in block.heads)


def _is_of_threads(read: SharedRead, block: TileBlock) -> bool:
    return any(block.axis(loop.variable) is not None for loop in read.by)


def _fits(name: str, threads: int, bytes: int) -> bool:
    """Whether tiles of so many bytes a block leave as many warps as there may be without them."""
    if bytes > MOST_BYTES:
        return False
    gpu = device(name)
    if gpu.vendor != "nvidia":
        return False
    return occupancy(gpu, threads, 0, bytes).warps == occupancy(gpu, threads, 0).warps


def _list_blocks(given: TileBlock) -> Iterator[TileBlock]:
    """Yield the block, and others of as many threads that are nearer to a square."""
    yield given
    threads = given.threads
    if "y" not in given.axes or threads & (threads - 1):
        return
    x = _NARROWEST
    while x < threads:
        block = (x, threads // x, 1)
        if block != given.block and block_fits(block) and not _is_wasteful(given, block):
            yield structs.replace(given, block=block)
        x *= 2


def _is_wasteful(given: TileBlock, block: tuple[int, int, int]) -> bool:
    trips = {axis: trip_count(head, {}) for head, axis in zip(given.heads, given.axes, strict=True)}
    sizes: Mapping[Axis, int] = {"x": block[0], "y": block[1], "z": block[2]}
    return any(is_wasteful(size, trips.get(axis)) for axis, size in sizes.items())


def _warp_box(block: tuple[int, int, int]) -> tuple[int, int, int]:
    """Return how the first warp lies in a block."""
    x = min(block[0], _WARP)
    y = min(block[1], max(1, _WARP // x))
    return x, y, min(block[2], max(1, _WARP // (x * y)))
