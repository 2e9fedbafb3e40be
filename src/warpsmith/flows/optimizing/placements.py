"""How one nest might be placed otherwise: its loops on other axes, blocks of other shapes, with tiles and without.

    mappings    every assignment of the loops to axes, every power-of-two block; no tiles: only numbers change, so that
                the kernel is planned once for each assignment
    tiles       every width in every block that is nearly a square, one iteration a thread; then, in the best of them,
                several iterations a thread; then, in the best of all these, rows of other lengths, and at last two
                tiles for each read, several neighbors a load, or both: all have texts of their own
    halos       what threads read around their own elements in shared memory, in blocks of a few shapes
    tables      in the best of all these, small arrays that are only read in constant memory

Limits: kernels whose threads combine values or need running ones have the mapping that the port gives them; a nest with
three axes has blocks of as many threads as the port's. One that does several time steps a launch has other blocks
alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from math import prod
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.loops.step import Step
from warpsmith.machine.limits import block_fits
from warpsmith.offload.mapping.register_shape import MOST_THREADS
from warpsmith.offload.mapping.spaces.constants import MOST_BYTES
from warpsmith.offload.plan import Fragment
from warpsmith.offload.steps.constant_memory import ConstantMemory
from warpsmith.offload.steps.double_buffer import DoubleBuffer
from warpsmith.offload.steps.halo_tile import HaloTile
from warpsmith.offload.steps.map import Map
from warpsmith.offload.steps.register_tile import RegisterTile
from warpsmith.offload.steps.shared_tile import SharedTile
from warpsmith.offload.steps.vector_load import VectorLoad
from warpsmith.recipes.placement import mapped_loop
from warpsmith.tree.nodes import For
from warpsmith.tree.program import Axis
from warpsmith.tree.types import Array, Symbol, byte_size
from warpsmith.tree.walk import loop_names, loops

__all__ = [
    "TileChoice",
    "blocks_of",
    "can_move",
    "filled_otherwise",
    "halo_choices",
    "inner_loops",
    "list_axes",
    "mapped",
    "padded",
    "pass_choices",
    "probe",
    "tile_choices",
    "with_elements",
    "with_tables",
]

Block = tuple[int, int, int]

_AXES: Final[tuple[Axis, ...]] = ("x", "y", "z")
_VOLUMES: Final = (64, 128, 256, 512)
_NARROWEST: Final = 8
"""Threads along x: of doubles two sectors."""
_WIDTHS: Final = (16, 32)
_TILE_BLOCKS: Final = ((16, 8), (16, 16), (32, 4), (32, 8), (32, 16))
_HALO_BLOCKS: Final[dict[int, tuple[Block, ...]]] = {
    1: ((128, 1, 1), (256, 1, 1), (512, 1, 1)),
    2: ((32, 8, 1), (32, 16, 1), (64, 4, 1), (16, 16, 1), (32, 4, 1)),
    3: ((32, 4, 2), (16, 4, 4), (32, 4, 4), (8, 8, 8)),
}
"""By how many loops are threads."""
_PASS_BLOCKS: Final[dict[int, tuple[Block, ...]]] = {
    1: ((256, 1, 1), (512, 1, 1), (1024, 1, 1)),
    2: ((32, 8, 1), (32, 16, 1), (32, 32, 1), (64, 8, 1), (64, 16, 1)),
    3: ((16, 4, 4), (16, 8, 4), (8, 8, 8), (16, 8, 8)),
}
_PROBED: Final = (16, 16, 1)
_PADDINGS: Final = (1, 0)
_AT_ONCE: Final = (2, 4)
"""Neighbors that a thread loads."""
_ELEMENTS: Final = ((2, 2), (4, 2), (4, 4), (8, 2), (8, 4))
"""Rows and columns of iterations a thread."""


class TileChoice(Struct, frozen=True):
    """Tiles of one width in these loops, in this block."""

    loops: tuple[str, ...]
    width: int
    block: tuple[int, int]

    @property
    def may_have_several(self) -> bool:
        """Whether the threads of such a block may have several iterations."""
        return prod(self.block) <= MOST_THREADS

    def steps(self, nest: Fragment, elements: tuple[int, int] = (1, 1)) -> tuple[Step, ...]:
        """Return the steps that place a nest so."""
        tiles = (SharedTile(loop, self.width) for loop in self.loops)
        return (Map(nest.region, _own_axes(nest), self.block), *tiles, RegisterTile(self.loops[0], *elements))


def can_move(nest: Fragment) -> bool:
    """Whether a nest may be placed otherwise."""
    kernel = nest.kernel
    # what steps of the user's have placed in tiles with a halo is written for one block, unless it does several passes
    still = bool(nest.halos) and not nest.iterations
    return bool(kernel.mapped) and not kernel.reductions and not kernel.scans and not still


def inner_loops(nest: Fragment) -> tuple[str, ...]:
    """Return the addresses of the counted loops that each thread goes through, outermost first."""
    names = loop_names(nest.function)
    innermost = nest.kernel.mapped[-1].loop
    here = next((loop for loop in names if isinstance(loop, For) and loop.header == innermost.header), None)
    return () if here is None else tuple(names[loop] for loop, _ in loops(here.body) if isinstance(loop, For))


def list_axes(nest: Fragment) -> Iterator[tuple[Axis, ...]]:
    """Yield every assignment of a nest's loops to axes, its own first."""
    own = _own_axes(nest)
    yield own
    yield from (order for order in permutations(_AXES[: len(own)]) if order != own)


def mapped(nest: Fragment, axes: tuple[Axis, ...], block: Block) -> tuple[Step, ...]:
    """Return the steps that place a nest on axes, in blocks of this shape, without tiles."""
    # threads of one axis have no tiles unless a step asks for them
    several = inner_loops(nest) if len(axes) > 1 else ()
    return (Map(nest.region, axes, block[: len(axes)]), *(SharedTile(loop, 0) for loop in several))


def blocks_of(nest: Fragment) -> Iterator[Block]:
    """Yield the shapes of blocks that are tried, the nest's own first."""
    own, dimensions = nest.kernel.block, len(nest.kernel.mapped)
    yield own
    for volume in _VOLUMES if dimensions < len(_AXES) else (prod(own),):
        powers = [1 << exponent for exponent in range(volume.bit_length())]
        for y in powers if dimensions > 1 else [1]:
            for z in powers if dimensions > len("xy") else [1]:
                block = volume // (y * z), y, z
                if prod(block) == volume and block[0] >= _NARROWEST and block_fits(block) and block != own:
                    yield block


def probe(nest: Fragment, loop: str) -> tuple[Step, ...]:
    """Return the steps with which a loop of a nest has tiles, if it can have any."""
    return (Map(nest.region, _own_axes(nest), _PROBED[: len(nest.kernel.mapped)]), SharedTile(loop))


def tile_choices(nest: Fragment, tiled: Sequence[str]) -> Iterator[TileChoice]:
    """Yield tiles for the loops `tiled` of a nest whose threads lie on two axes."""
    if len(nest.kernel.mapped) == len("xy") and tiled:
        for block in _TILE_BLOCKS:
            yield from (TileChoice(tuple(tiled), width, block) for width in _WIDTHS)


def halo_choices(nest: Fragment) -> Iterator[tuple[Step, ...]]:
    """Yield the steps with which a nest's threads read their neighbors from tiles."""
    axes = _own_axes(nest)
    # no tiles of a loop inside beside them
    others = tuple(SharedTile(loop, 0) for loop in inner_loops(nest)) if len(axes) > 1 else ()
    for block in _HALO_BLOCKS[len(axes)]:
        yield (Map(nest.region, axes, block[: len(axes)]), *others, HaloTile(nest.region))


def pass_choices(nest: Fragment) -> Iterator[tuple[Step, ...]]:
    """Yield the steps that place several time steps of a launch in other blocks: the larger one is, the less of what
    lies between blocks is computed twice, and the more shared memory it takes."""
    axes = _own_axes(nest)
    for block in _PASS_BLOCKS[len(axes)]:
        if block != nest.kernel.block:
            yield (Map(mapped_loop(nest), axes, block[: len(axes)]),)


def with_elements(nest: Fragment, choice: TileChoice) -> Iterator[tuple[Step, ...]]:
    """Yield the same tiles for several iterations a thread."""
    yield from (choice.steps(nest, elements) for elements in _ELEMENTS)


def filled_otherwise(steps: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    """Yield the same placement with tiles that are filled otherwise: two for each read, of which one is filled while
    the other is used, several neighbors at once, and both."""
    tiled = _tiled_by(steps)
    if not tiled:
        return
    two = [DoubleBuffer(loop) for loop in tiled]
    yield (*steps, *two)
    for elements in _AT_ONCE:
        wide = [VectorLoad(loop, elements) for loop in tiled]
        yield from ((*steps, *wide), (*steps, *two, *wide))


def padded(steps: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    """Yield the same placement with rows of tiles that are longer than what they hold, and with rows that are not."""
    tiled = _tiled_by(steps)
    for padding in _PADDINGS if tiled else ():
        yield tuple(replace(step, padding=padding) if isinstance(step, SharedTile) else step for step in steps)


def with_tables(nest: Fragment, steps: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    """Yield a placement with small arrays that the kernel only reads in constant memory: each alone, and all."""
    found = [p.host.name for p in nest.kernel.parameters if p.kind == "buffer" and not p.written and _is_table(p.host)]
    for arrays in (*((name,) for name in found), *([tuple(found)] if len(found) > 1 else [])):
        yield (*steps, ConstantMemory(nest.region, arrays))


def _is_table(symbol: Symbol) -> bool:
    """Whether an array is declared with its size, and small enough for constant memory."""
    size = byte_size(symbol.type) if isinstance(symbol.type, Array) else None
    return size is not None and 0 < size <= MOST_BYTES


def _tiled_by(steps: Sequence[Step]) -> list[str]:
    return [step.loop for step in steps if isinstance(step, SharedTile) and step.width > 0]


def _own_axes(nest: Fragment) -> tuple[Axis, ...]:
    return tuple(one.axis for one in nest.kernel.mapped)
