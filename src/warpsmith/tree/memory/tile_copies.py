"""Functions with which threads of kernels bring elements to a tile while they compute; ports carry their text.

held = FETCH(&tile[…], &array[…]);  …  LAND(&tile[…], held);  ARRIVED();        then a barrier, then the tile is read
"""

from __future__ import annotations

from typing import Final

from warpsmith.tree.types import VOID, FunctionType, Symbol

__all__ = ["ARRIVED", "FETCH", "LAND"]


def _function(name: str) -> Symbol:
    return Symbol(name, f"carried:{name}", FunctionType(VOID, (), False), "function", None)


FETCH: Final = _function("tile_fetch")
"""Begins to copy an element, or returns it."""
LAND: Final = _function("tile_land")
"""Stores what `FETCH` has returned, unless it has begun a copy."""
ARRIVED: Final = _function("tile_arrived")
"""Waits for the copies that the thread has begun."""
