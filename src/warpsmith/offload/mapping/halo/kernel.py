"""Whether the threads of a kernel read their neighbors from tiles with a halo, and its body if they do.

Only where a step asks for it: the caches of a GPU hold the neighbors of a warp as well, so that a tile saves requests
to the first of them, and costs instructions, barriers and shared memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from warpsmith.base.verdict import Reason
from warpsmith.offload.mapping.halo.neighbors import HaloRead, NeighborReads, find_neighbors
from warpsmith.offload.mapping.halo.tile_shape import choose_block, count_bytes, lay_out
from warpsmith.offload.mapping.halo.tile_text import write_halo
from warpsmith.offload.mapping.tile_shape import MOST_BYTES
from warpsmith.offload.mapping.tiles import find_obstacle
from warpsmith.offload.mapping.tiling import TileRequest, TilesRefusedError, Tiling
from warpsmith.offload.plan import HaloTiles
from warpsmith.tree.program import Decision
from warpsmith.tree.walk import loops, walk

__all__ = ["tile_with_halo"]


def tile_with_halo(request: TileRequest) -> Tiling | None:
    """Return the kernel's body with tiles that have a halo; None where no step asks for them. Raises TilesRefusedError
    where one asks, and they cannot be."""
    decision = _find_decision(request)
    if decision is None:
        return None
    reason = find_obstacle(request.search) or _find_conflict(request)
    if reason is not None:
        raise TilesRefusedError(reason)
    reads = _choose_reads(request, decision)
    block = request.block if request.is_fixed else choose_block(reads, request.block)
    bytes = count_bytes(reads, block)
    if bytes > MOST_BYTES:
        shape = ",".join(map(str, block.block))
        text = f"the tiles of a block of {shape} take {bytes} bytes of shared memory, and a block has {MOST_BYTES}"
        helps = ("fewer arrays, or a smaller block by the step map",)
        raise TilesRefusedError(Reason("STP003", text, decision.node.header, legal_if=helps))
    body = write_halo(request.text, reads, block, request.own)
    halos = tuple(HaloTiles(read.array, lay_out(read, block).extents) for read in reads)
    return Tiling(body, replace(request.mapping, block=block.block), halos=halos)


def _find_decision(request: TileRequest) -> Decision | None:
    """Return what a step says of one of the loops that are threads."""
    halos = request.decided.halos
    return next((halos[head] for head in request.search.heads if head in halos), None)


def _find_conflict(request: TileRequest) -> Reason | None:
    """Return what another step asks for that a kernel with such tiles cannot have."""
    decided = request.decided
    for loop, _ in loops(request.search.heads[-1].body):
        tiles, elements = decided.tiles.get(loop), decided.elements.get(loop)
        if tiles is not None and tiles.width:
            text = "a kernel has tiles with a halo, or tiles of a loop of its threads, not both"
            return Reason("STP002", text, tiles.node.header, legal_if=("shared-tile with width=0",))
        if loop in decided.buffers:
            text = "a kernel with a halo fills its tiles once: none could be filled while another is used"
            return Reason("STP002", text, decided.buffers[loop].node.header)
        if loop in decided.vectors and decided.vectors[loop].width > 1:
            text = "the threads of a kernel with a halo load one element at a time"
            return Reason("STP002", text, decided.vectors[loop].node.header)
        if elements is not None and elements.elements != (1, 1):
            text = "a thread of a kernel with a halo has one iteration"
            return Reason("STP002", text, elements.node.header, legal_if=("register-tile with rows=1, columns=1",))
    return None


def _choose_reads(request: TileRequest, decision: Decision) -> Sequence[HaloRead]:
    """Return what is read from tiles: all that may be, or what a step names."""
    found = find_neighbors(request.search)
    # elements that a thread keeps in registers are not read there any more
    left = {id(part) for part in walk(request.text)}
    reads = [read for read in found.reads if any(id(node) in left for node in read.nodes)]
    names = {read.array for read in reads}
    missing = next((one for one in decision.arrays if one not in names), None)
    if not reads or missing is not None:
        raise TilesRefusedError(_explain(found, missing, decision))
    return [read for read in reads if not decision.arrays or read.array in decision.arrays]


def _explain(found: NeighborReads, missing: str | None, decision: Decision) -> Reason:
    """Return why an array has no tile, or why none has one."""
    about = [reason for reason in found.refused if missing is None or missing in reason.text]
    if about:
        return about[0]
    text = f"no thread reads {missing or 'an array'} at several constant distances from its own element"
    return Reason("STP002", text, decision.node.header)
