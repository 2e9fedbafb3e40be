"""Functions with which threads of kernels bring elements to a tile while they compute; ports carry their text.

held = FETCH(&tile[…], &array[…]);  …  LAND(&tile[…], held);  ARRIVED();        then a barrier, then the tile is read
"""

from __future__ import annotations

from typing import Final

from warpsmith.tree.types import VOID, FunctionType, Symbol

__all__ = ["ARRIVED", "FETCH", "FETCH_WIDE", "LAND", "LOAD_WIDE", "TILE_COPIES"]


def _function(name: str) -> Symbol:
    return Symbol(name, f"carried:{name}", FunctionType(VOID, (), False), "function", None)


FETCH: Final = _function("tile_fetch")
"""Begins to copy an element, or returns it."""
LAND: Final = _function("tile_land")
"""Stores what `FETCH` has returned, unless it has begun a copy."""
ARRIVED: Final = _function("tile_arrived")
"""Waits for the copies that the thread has begun."""
LOAD_WIDE: Final = {2: _function("tile_load2"), 4: _function("tile_load4")}
"""Loads so many neighbors to a tile, at once where their addresses allow it; each times a third argument."""
FETCH_WIDE: Final = {2: _function("tile_fetch2"), 4: _function("tile_fetch4")}
"""Begins to copy so many neighbors to a tile, at once where their addresses allow it."""
TILE_COPIES: Final = frozenset({FETCH, LAND, ARRIVED, *LOAD_WIDE.values(), *FETCH_WIDE.values()})
