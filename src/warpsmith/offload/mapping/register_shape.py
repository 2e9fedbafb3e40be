"""How many iterations of the mapped loops a thread of a kernel with tiles has, so that it reads less of them.

    rows x columns = 8 x 4, one iteration over k:    8 of A, 4 of B are read for 32 multiply-adds
                     1 x 1                           1 of A, 1 of B                1 multiply-add

Invariant: what is chosen has no more sectors than tiles alone, fits into registers by an estimate that is high, and
leaves the multiprocessors of the device enough blocks wherever the sizes of the loops are known.
Limits: loops whose iterations evaluate all of their text, all that they read in tiles; few statements around them,
which are written once for each iteration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Final

from msgspec import Struct, structs

from warpsmith.machine.devices import device
from warpsmith.machine.occupancy import occupancy
from warpsmith.offload.mapping.filling.staged import count_held, is_copied
from warpsmith.offload.mapping.mapping import is_wasteful
from warpsmith.offload.mapping.ranges import most_trips
from warpsmith.offload.mapping.tile_shape import MOST_BYTES, TileBlock, TileShape, count_bytes, lay_out
from warpsmith.offload.mapping.tiles import SharedRead
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    Conditional,
    DeclStmt,
    ExprStmt,
    For,
    Index,
    Name,
    Stmt,
    While,
)
from warpsmith.tree.program import Axis
from warpsmith.tree.types import Scalar, Symbol
from warpsmith.tree.walk import peel, statements_of, walk

__all__ = ["MOST_THREADS", "RegisterSearch", "choose_elements", "find_misfit", "is_straight"]

MOST_THREADS: Final = 256
"""The most threads of a block whose threads may have as many registers as there are."""
_SIDES: Final = (8, 4, 2, 1)
_WIDEST: Final = 4
_OWN_WORDS: Final = 80
_MOST_WORDS: Final = 192
_ALL_WORDS: Final = 255
_MOST_TEXT: Final = 64
_VECTOR: Final = 16


class RegisterSearch(Struct, frozen=True):
    """A kernel that may have several iterations a thread: its body, the `device` that all must fit, what the parameters
    are worth that the user gave `sizes` of, and whether the block's shape is `fixed`."""

    body: Stmt
    device: str
    sizes: Mapping[str, int]
    fixed: bool


def choose_elements(search: RegisterSearch, shape: TileShape) -> TileShape:
    """Return the shape with as many iterations a thread as read the least for each; the shape as it is where that is
    one."""
    if shape.block.threads > MOST_THREADS or not _is_short(search.body, shape):
        return shape
    best = _rank(search, shape), shape
    for wider in _list_wider(search, shape):
        ranked = _rank(search, wider)
        if ranked < best[0]:
            best = ranked, wider
    return best[1]


def _list_wider(search: RegisterSearch, shape: TileShape) -> Iterator[TileShape]:
    """Yield the shapes with several iterations a thread that fit, in blocks of as many threads or half of them."""
    x, y, z = shape.block.block
    for threads in [(x, y, z)] if search.fixed or y == 1 else [(x, y, z), (x, y // 2, z)]:
        for rows, columns in product(_SIDES, _SIDES):
            block = structs.replace(shape.block, block=threads, elements=(columns, rows, 1))
            wider = structs.replace(shape, block=block)
            words = _estimate_words(search.body, wider)
            fits = rows * columns > 1 and columns <= _WIDEST and words <= _MOST_WORDS and _fits_loops(search, block)
            if fits and _fits_device(search.device, wider, words):
                yield wider


def _rank(search: RegisterSearch, shape: TileShape) -> tuple[float, int, int]:
    """Order shapes by the loads of an iteration, then by whether one block can load its tiles while another uses its
    own, then by sectors."""
    rows_and_columns = prod(shape.block.elements)
    words = _estimate_words(search.body, shape) if rows_and_columns > 1 else 0
    blocks = occupancy(device(search.device), shape.block.threads, words, count_bytes(shape) or 0).blocks
    loads = sum(_loads(shape, loop) for loop in shape.reads) / rows_and_columns
    return loads, -min(blocks, 2), -shape.block.threads


def find_misfit(body: Stmt, shape: TileShape) -> str | None:
    """Return why the threads of a block cannot have so many iterations, if they cannot."""
    if prod(shape.block.elements) == 1:
        return None
    if shape.block.threads > MOST_THREADS:
        return f"threads with several iterations form blocks of at most {MOST_THREADS} threads"
    bytes, words = count_bytes(shape), _estimate_words(body, shape)
    if bytes is None or bytes > MOST_BYTES:
        text = "tiles for so many iterations do not fit: their rows must divide a block's threads, and all of them have"
        return f"{text} {MOST_BYTES // 1024} KiB"
    if words > _ALL_WORDS:
        return f"so many iterations take about {words} registers a thread, and there are {_ALL_WORDS}"
    return None


def is_straight(loop: For) -> bool:
    """Whether an iteration evaluates all of its text, whatever the values are."""
    if not all(isinstance(stmt, DeclStmt | ExprStmt) for stmt in statements_of(loop.body)):
        return False
    parts = walk(loop.body)
    return not any(isinstance(p, Conditional) or (isinstance(p, Binary) and p.op in ("&&", "||")) for p in parts)


def _estimate_words(body: Stmt, shape: TileShape) -> int:
    """Return about how many registers a thread takes, rather more than less: what each iteration sums up, what it
    reads from tiles, what it holds of the next ones, and what all kernels have."""
    across, down, _ = shape.block.elements
    summed = {
        target.symbol
        for loop in _tiled_loops(body, shape)
        for part in walk(loop.body)
        if isinstance(part, Assign) and isinstance(target := peel(part.target), Name)
    }
    words = sum(_words(symbol) for symbol in summed) * across * down
    for loop, reads in shape.reads.items():
        for read in reads:
            words += _times(shape.block, read) * read.bytes // 4
            words += _count_waiting(shape, loop, read) if loop in shape.doubled else 0
    return words + _OWN_WORDS


def _count_waiting(shape: TileShape, loop: For, read: SharedRead) -> int:
    """Return how many registers hold elements of the next tile while a thread computes: of what the GPU does not copy
    by itself."""
    layout = lay_out(read, shape.block, shape.widths[loop])
    if layout is None or is_copied(read):
        return 0
    return count_held(layout.rows, shape.block.threads // layout.extents[-1]) * max(1, read.bytes // 4)


def _words(symbol: Symbol) -> int:
    return max(1, symbol.type.bits // 32) if isinstance(symbol.type, Scalar) else 1


def _tiled_loops(body: Stmt, shape: TileShape) -> Iterator[For]:
    """Yield the loops with tiles, as they now are in the body."""
    counters = {loop.variable for loop in shape.reads}
    nodes = {id(node) for reads in shape.reads.values() for read in reads for node in read.nodes}
    for part in walk(body):
        if isinstance(part, For) and part.variable in counters and nodes & {id(inner) for inner in walk(part.body)}:
            yield part


def _is_short(body: Stmt, shape: TileShape) -> bool:
    """Whether a body may be written once for each iteration: nothing in it repeats but loops with tiles and what is
    around them, these read nothing but tiles, and the rest is little."""
    tiled = list(_tiled_loops(body, shape))
    held = {id(node) for reads in shape.reads.values() for read in reads for node in read.nodes}
    inside = {id(part) for loop in tiled for part in walk(loop)}
    rest = 0
    for part in walk(body):
        if isinstance(part, Call | While) or (isinstance(part, For) and not _leads_to(part, tiled)):
            return False
        rest += id(part) not in inside
    text = [part for loop in tiled for part in walk(loop.body)]
    below = {id(inner) for part in text if id(part) in held for inner in walk(part)}
    memory = any(isinstance(part, Index) and id(part) not in below for part in text)
    return all(map(is_straight, tiled)) and not memory and rest <= _MOST_TEXT and len(text) <= 2 * _MOST_TEXT


def _leads_to(loop: For, tiled: Sequence[For]) -> bool:
    parts = {id(part) for part in walk(loop)}
    return any(id(one) in parts for one in tiled)


def _axes_of(block: TileBlock, read: SharedRead) -> set[Axis]:
    """Return the axes along which a thread reads several elements of a tile."""
    found = {block.axis(loop.variable) for loop in read.by}
    return {axis for axis in found if axis is not None and block.elements_along(axis) > 1}


def _times(block: TileBlock, read: SharedRead) -> int:
    """Return how many elements of a tile a thread reads in one iteration of the loop."""
    return prod(block.elements_along(axis) for axis in _axes_of(block, read))


def _loads(shape: TileShape, loop: For) -> float:
    """Return how many loads an iteration of the loop takes a thread: of what lies next to each other, one for several
    elements."""
    total = 0.0
    for read in shape.reads[loop]:
        last = shape.block.axis(read.by[-1].variable)
        together = last is None or (last == "y" and shape.block.elements[1] > 1)
        total += _times(shape.block, read) / (max(1, _VECTOR // read.bytes) if together else 1)
    return total


def _fits_loops(search: RegisterSearch, block: TileBlock) -> bool:
    """Whether the loops are long enough: none is shorter than what a block has of it, and blocks are left for all
    multiprocessors, where that is known."""
    trips = most_trips(block.heads, search.sizes)
    covered = [block.size(head.variable) for head in block.heads]
    several = [block.elements_along(axis) > 1 for axis in block.axes]
    if any(more and is_wasteful(size, trip) for more, size, trip in zip(several, covered, trips, strict=True)):
        return False
    if any(trip is None for trip in trips) or prod(block.elements) == 1:
        return True
    blocks = prod(-(-(trip or 0) // size) for trip, size in zip(trips, covered, strict=True))
    return blocks >= device(search.device).units


def _fits_device(name: str, shape: TileShape, words: int) -> bool:
    """Whether tiles leave as many warps as registers do."""
    gpu, bytes = device(name), count_bytes(shape)
    if bytes is None or bytes > MOST_BYTES or gpu.vendor != "nvidia":
        return False
    threads = shape.block.threads
    return 0 < occupancy(gpu, threads, words, bytes).warps == occupancy(gpu, threads, words).warps
