"""Functions with which threads that share loops combine values and wait for one another; ports carry their text.

s = warp_function("+", double)(s, Lanes);        WARP_SYNC(Lanes);        the lanes of a warp
s = column_function("+", double)(s, Rows);       BLOCK_SYNC(Rows);        threads of a block above one another

All of them do nothing for one thread.
"""

from __future__ import annotations

from typing import Final

from warpsmith.tree.types import INT, VOID, FunctionType, Scalar, Symbol

__all__ = ["BLOCK_SYNC", "COLUMN_KEY", "WARP_KEY", "WARP_SYNC", "column_function", "warp_function"]

WARP_KEY: Final = "warp:"
"""How the keys of functions begin with which lanes combine values; the operation and the type follow."""
COLUMN_KEY: Final = "column:"
"""The same for threads of a block above one another."""

WARP_SYNC: Final = Symbol("warp_sync", "carried:warp_sync", FunctionType(VOID, (INT,), False), "function", None)
"""Waits until all lanes are here, and see what each of them has stored."""
BLOCK_SYNC: Final = Symbol("block_sync", "carried:block_sync", FunctionType(VOID, (INT,), False), "function", None)
"""Waits until all threads of the block are here, and see what each of them has stored."""


def warp_function(op: str, type: Scalar) -> Symbol:
    """Return the function that combines a value of each lane by `op`, for all of them."""
    return _function("warp", WARP_KEY, op, type)


def column_function(op: str, type: Scalar) -> Symbol:
    """Return the function that combines by `op` a value of each thread of a column of the block, for all of them."""
    return _function("column", COLUMN_KEY, op, type)


def _function(word: str, key: str, op: str, type: Scalar) -> Symbol:
    signature = FunctionType(type, (type, INT), False)
    return Symbol(f"{word} {op} {type.name}", f"{key}{op}:{type.name}", signature, "function", None)
