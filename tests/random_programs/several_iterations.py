"""Makes kernels with tiles have several iterations a thread, as many as small sizes can still fill; or two
tiles for each read."""

from __future__ import annotations

import random
from typing import Final

import pytest
from msgspec.structs import replace

from warpsmith.offload.mapping import tiling
from warpsmith.offload.mapping.tile_shape import TileShape, lay_out
from warpsmith.offload.mapping.tiling import TileRequest

__all__ = ["want_one", "want_padding", "want_several", "want_two_tiles", "want_wide"]

_COLUMNS: Final = (1, 2, 4)
_ROWS: Final = (1, 2, 4, 8)
_BLOCKS: Final = ((8, 4, 1), (8, 8, 1), (4, 8, 1), (16, 4, 1), (32, 2, 1))


def want_one(patch: pytest.MonkeyPatch) -> None:
    """Let threads have one iteration each."""
    patch.setattr(tiling, "_choose_elements", lambda _, shape: shape)


def want_several(patch: pytest.MonkeyPatch) -> None:
    """Let the planner choose rows, columns, block and width by the name of the function that it plans."""
    patch.setattr(tiling, "_choose_elements", _choose)


def want_two_tiles(patch: pytest.MonkeyPatch) -> None:
    """Let each read have two tiles, of which one is filled while the other is used."""

    def double(_: TileRequest, shape: TileShape) -> TileShape:
        return replace(shape, doubled=frozenset(shape.widths))

    patch.setattr(tiling, "_double", double)


def want_padding(patch: pytest.MonkeyPatch) -> None:
    """Let rows of tiles be longer than what they hold, by some number of elements."""
    real = tiling._double

    def pad(request: TileRequest, shape: TileShape) -> TileShape:
        chosen = random.Random(f"padding {request.search.request.facts.function.symbol.name}")
        return real(request, replace(shape, block=replace(shape.block, padding=chosen.choice((0, 1, 2, 5)))))

    patch.setattr(tiling, "_double", pad)


def want_wide(patch: pytest.MonkeyPatch) -> None:
    """Let threads load two or four neighbors at once of arrays that let them."""

    def widen(request: TileRequest, shape: TileShape) -> TileShape:
        chosen = random.Random(f"wide {request.search.request.facts.function.symbol.name}")
        return replace(shape, wide={loop: chosen.choice((2, 2, 4)) for loop in shape.widths})

    patch.setattr(tiling, "_widen", widen)
    patch.setattr(tiling, "_find_narrow", lambda *_: None)


def _choose(request: TileRequest, shape: TileShape) -> TileShape:
    chosen = random.Random(f"{request.search.request.facts.function.symbol.name} {len(shape.reads)}")
    for _ in range(100):
        elements = (chosen.choice(_COLUMNS), chosen.choice(_ROWS), 1)
        block = replace(shape.block, block=chosen.choice(_BLOCKS), elements=elements)
        width = chosen.choice((4, 8, 16))
        made = replace(shape, block=block, widths=dict.fromkeys(shape.widths, width))
        if elements != (1, 1, 1) and all(
            lay_out(read, block, width) for reads in shape.reads.values() for read in reads
        ):
            return made
    return shape
