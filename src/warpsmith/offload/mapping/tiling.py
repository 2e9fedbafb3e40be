"""Whether a kernel's loops read tiles from shared memory, and its body if they do.

Without a step that says so, loops have tiles where these make less than half of the sectors, and as many warps fit; and
a thread has several iterations of the mapped loops where that lets it read less of the tiles (register_shape.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.base.verdict import Reason
from warpsmith.offload.decisions import Decided
from warpsmith.offload.mapping.filling.wide import find_width
from warpsmith.offload.mapping.mapping import ThreadMapping, has_table
from warpsmith.offload.mapping.own_variables import OwnVariables
from warpsmith.offload.mapping.register_shape import RegisterSearch, choose_elements, find_misfit
from warpsmith.offload.mapping.register_text import write_elements
from warpsmith.offload.mapping.tile_shape import MOST_BYTES, TileBlock, TileShape, choose_shape, count_bytes, lay_out
from warpsmith.offload.mapping.tiled_text import TiledBody, write_tiles
from warpsmith.offload.mapping.tiles import LoopReads, SharedRead, TileSearch, array_of, find_shared_reads
from warpsmith.offload.plan import HaloTiles, LoopTiles
from warpsmith.tree.nodes import For, Loop, Stmt
from warpsmith.tree.program import Decision
from warpsmith.tree.walk import loop_names, loops, walk

__all__ = ["TileRequest", "TilesRefusedError", "Tiling", "tile_kernel"]


class TilesRefusedError(RefusedError):
    """A step wants tiles that a kernel cannot have, for this `reason`."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(Finding(reason.rule, "error", reason.text, reason.span, reason.legal_if))
        self.reason = reason


class TileRequest(Struct, frozen=True):
    """A kernel that may have tiles: its mapping, the thread's body until now, and what makes its variables."""

    search: TileSearch
    mapping: ThreadMapping
    text: Stmt
    own: OwnVariables

    @property
    def decided(self) -> Decided:
        """What steps have decided in the function."""
        return Decided.of(self.search.request.program, self.search.request.facts.function)

    @property
    def block(self) -> TileBlock:
        """The block as it is mapped."""
        inside = [loop for loop, _ in loops(self.search.heads[-1].body)]
        asked = {self.decided.tiles[loop].padding for loop in inside if loop in self.decided.tiles} - {-1}
        padding = min(asked) if asked else None
        return TileBlock(self.search.heads, self.mapping.axes, self.mapping.block, padding=padding)

    @property
    def is_fixed(self) -> bool:
        """Whether a step, or the printed tables, give the shape of the block."""
        decision = self.decided.threads(self.search.draft.loops[0].loop)
        by_tables = has_table(len(self.search.heads), self.search.request.options.model)
        return by_tables or (decision is not None and bool(decision.block))


class Tiling(Struct, frozen=True):
    """A body with tiles, the mapping with the block that they were made for, which loops have them, and which arrays
    have one with a halo."""

    body: TiledBody
    mapping: ThreadMapping
    tiles: tuple[LoopTiles, ...] = ()
    halos: tuple[HaloTiles, ...] = ()
    iterations: int = 0


def tile_kernel(request: TileRequest) -> Tiling | None:
    """Return the kernel's body with tiles; None where it stays. Raises TilesRefusedError where a step wants tiles, or
    iterations of one thread, that cannot be."""
    decided = request.decided.tiles
    inside = [loop for loop, _ in loops(request.search.heads[-1].body) if loop in decided]
    asked = [decided[loop] for loop in inside if decided[loop].width]
    wanted = _find_elements(request)
    if asked:
        shape, found = _choose_asked(request, inside, asked)
        return _make(request, _widen(request, _double(request, shape)), found, wanted or (1, 1))
    # threads of one axis have all that they read alike at once
    several_axes = len(request.search.heads) > 1
    reads: tuple[LoopReads, ...] | Reason = find_shared_reads(request.search) if several_axes else ()
    kept = [] if isinstance(reads, Reason) else [one for one in reads if not any(one.loop is loop for loop in inside)]
    chosen = _choose(request, kept, 0) if kept else None
    if chosen is None:
        if wanted is not None and prod(wanted) > 1:
            raise TilesRefusedError(_without_tiles(request, reads))
        _refuse_untiled(request, {})
        return None
    chosen = _widen(request, _double(request, chosen))
    if wanted is not None and prod(wanted) > 1:
        return _make(request, chosen, kept, wanted)
    several = chosen if wanted is not None else _choose_elements(request, chosen)
    made = _write(request, several, kept)
    if isinstance(made, Reason) and several is not chosen:
        made = _write(request, chosen, kept)
    return None if isinstance(made, Reason) else made


def _find_elements(request: TileRequest) -> tuple[int, int] | None:
    """Return how many rows and columns of iterations steps ask for, None where none says anything of it."""
    decided = request.decided.elements
    asked = [decided[loop] for loop, _ in loops(request.search.heads[-1].body) if loop in decided]
    if len({one.elements for one in asked}) > 1:
        text = "the threads of one kernel have the same rows and columns of iterations in all loops"
        raise TilesRefusedError(Reason("STP003", text, asked[-1].node.header))
    return asked[0].elements if asked else None


def _without_tiles(request: TileRequest, found: Sequence[LoopReads] | Reason) -> Reason:
    """Return why a kernel has no tiles that several iterations of a thread could read."""
    if isinstance(found, Reason):
        return found
    reason = next((reason for one in found for reason in one.refused), None)
    text = "the loop has no tiles in shared memory that iterations of one thread could read alike"
    if reason is not None:
        text += f": {reason.text}"
    return Reason("STP002", text, request.search.heads[0].header, legal_if=("shared-tile before it",))


def _double(request: TileRequest, shape: TileShape) -> TileShape:
    """Return the shape with two tiles for each read of the loops for which steps ask for them."""
    _refuse_untiled(request, shape.widths)
    doubled = replace(shape, doubled=frozenset(loop for loop in shape.widths if loop in request.decided.buffers))
    bytes = count_bytes(doubled)
    if doubled.doubled and (bytes is None or bytes > MOST_BYTES):
        text = f"two tiles for each read take {bytes} bytes of shared memory, and a block has {MOST_BYTES}"
        node = next(iter(request.decided.buffers.values())).node
        raise TilesRefusedError(Reason("STP003", text, node.header, legal_if=("a smaller width of shared-tile",)))
    return doubled


def _widen(request: TileRequest, shape: TileShape) -> TileShape:
    """Return the shape with the numbers of neighbors that threads load at once, where steps ask for them."""
    decided = request.decided.vectors
    return replace(shape, wide={loop: decided[loop].width for loop in shape.widths if loop in decided})


def _refuse_untiled(request: TileRequest, tiled: Mapping[For, int]) -> None:
    """Raise TilesRefusedError where a step asks how tiles are filled in a loop that has none."""
    for decided, what in (
        (request.decided.buffers, "of which one could be filled while the other is used"),
        (request.decided.vectors, "of which a thread could load several elements at once"),
    ):
        for loop, _ in loops(request.search.heads[-1].body):
            if loop in decided and loop not in tiled and decided[loop].width != 1:
                text, helps = f"the loop has no tiles in shared memory {what}", ("shared-tile before it",)
                raise TilesRefusedError(Reason("STP002", text, decided[loop].node.header, legal_if=helps))


def _find_narrow(request: TileRequest, shape: TileShape) -> Reason | None:
    """Return why threads can load no neighbors of any array at once, where a step asks for that."""
    for loop, asked in shape.wide.items():
        layouts = [(read, lay_out(read, shape.block, shape.widths[loop])) for read in shape.reads[loop]]
        widths = [find_width(read, layout, shape, loop) for read, layout in layouts if layout is not None]
        if asked > 1 and max(widths, default=1) == 1:
            names = ", ".join(_arrays_of(shape.reads[loop]))
            text = f"a thread can load no {asked} elements of {names} at once: these take more than 16 bytes, do not "
            text += "lie next to each other in a row of a tile that is not padded, or wait in registers as products"
            return Reason("STP002", text, request.decided.vectors[loop].node.header, legal_if=("fewer elements",))
    return None


def _arrays_of(reads: Sequence[SharedRead]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(array_of(read.nodes[0]) for read in reads))


def _choose_elements(request: TileRequest, shape: TileShape) -> TileShape:
    options = request.search.request.options
    search = RegisterSearch(request.text, options.device, options.sizes or {}, request.is_fixed)
    return choose_elements(search, shape)


def _make(request: TileRequest, shape: TileShape, found: Sequence[LoopReads], elements: tuple[int, int]) -> Tiling:
    """Return the body with so many rows and columns of iterations a thread, as a step asks for them."""
    rows, columns = elements
    if rows > 1 and "y" not in shape.block.axes:
        text = f"{rows} rows are iterations of a loop on y, and no loop of the kernel is there"
        raise TilesRefusedError(Reason("STP003", text, request.search.heads[0].header))
    several = replace(shape, block=replace(shape.block, elements=(columns, rows, 1)))
    why = find_misfit(request.text, several)
    if why is not None:
        raise TilesRefusedError(Reason("STP003", why, request.search.heads[0].header))
    made = _write(request, several, found)
    if isinstance(made, Reason):
        raise TilesRefusedError(made)
    return made


def _choose_asked(
    request: TileRequest, inside: Sequence[Loop], asked: Sequence[Decision]
) -> tuple[TileShape, Sequence[LoopReads]]:
    """Return the tiles that steps ask for."""
    if len({one.width for one in asked}) > 1:
        text = "the loops of one kernel have tiles of one width"
        raise TilesRefusedError(Reason("STP003", text, asked[-1].node.header))
    if len({one.padding for one in asked}) > 1:
        text = "the rows of all tiles of one kernel are padded by the same number of elements"
        raise TilesRefusedError(Reason("STP003", text, asked[-1].node.header))
    chosen: list[LoopReads] = []
    for loop in inside:
        decision = next((one for one in asked if request.decided.tiles.get(loop) is one), None)
        if decision is not None:
            chosen.append(_find_asked(request, loop, decision))
    nested = next((one for one in chosen for other in chosen if any(one.loop is outer for outer in other.around)), None)
    if nested is not None:
        text = "a loop inside it has tiles: what is around stays as it is"
        raise TilesRefusedError(Reason("STP002", text, nested.loop.header))
    shape = _choose(request, chosen, asked[0].width)
    if shape is None:
        text = f"tiles of {asked[0].width} iterations do not fit: their rows must divide a block's threads, and all of "
        text += "them have 48 KiB"
        raise TilesRefusedError(Reason("STP003", text, asked[0].node.header))
    return shape, chosen


def _find_asked(request: TileRequest, loop: Loop, decision: Decision) -> LoopReads:
    """Return the reads of one loop that a step asks for."""
    found = find_shared_reads(replace(request.search, wanted=loop))
    if isinstance(found, Reason):
        raise TilesRefusedError(found)
    one = next((one for one in found if one.loop is loop), None)
    if one is None:
        raise TilesRefusedError(
            Reason("STP002", "only a counted loop is gone through tile by tile", decision.node.header)
        )
    names = {array_of(read.nodes[0]) for read in one.reads}
    missing = next((name for name in decision.arrays if name not in names), None)
    if one.reads and missing is None:
        wanted = [read for read in one.reads if not decision.arrays or array_of(read.nodes[0]) in decision.arrays]
        return replace(one, reads=tuple(wanted))
    about = [reason for reason in one.refused if missing is None or missing in reason.text]
    if about:
        raise TilesRefusedError(about[0])
    text = f"no two threads of a block read the same element of {missing or 'an array'} in this loop"
    raise TilesRefusedError(Reason("STP002", text, decision.node.header))


def _choose(request: TileRequest, found: Sequence[LoopReads], asked: int) -> TileShape | None:
    search = request.search
    left = {id(part) for part in walk(request.text)}
    references = [one for one in search.draft.loops[0].accesses if id(one.expr) in left]
    return choose_shape(
        found, request.block, references, search.request.options.device, fixed=request.is_fixed, asked=asked
    )


def _write(request: TileRequest, shape: TileShape, found: Sequence[LoopReads]) -> Tiling | Reason:
    taken = set(request.own.taken)
    narrow = _find_narrow(request, shape)
    if narrow is not None:
        raise TilesRefusedError(narrow)
    if prod(shape.block.elements) > 1:
        written = write_elements(request.text, shape, found, request.own, request.search)
    else:
        written = write_tiles(request.text, shape, found, request.own)
    if isinstance(written, Reason):
        request.own.taken = taken
        return written
    names = loop_names(request.search.request.facts.function)
    padding = -1 if shape.block.padding is None else shape.block.padding
    tiles = tuple(
        LoopTiles(
            names[loop], width, _arrays_of(shape.reads[loop]), loop in shape.doubled, shape.wide.get(loop, 1), padding
        )
        for loop, width in shape.widths.items()
    )
    return Tiling(written, replace(request.mapping, block=shape.block.block), tiles)
