"""Functions with which the lanes of a warp combine values and wait for one another; ports carry their text.

s = warp_function("+", double)(s, Lanes);        WARP_SYNC(Lanes);        both do nothing where Lanes is 1
"""

from __future__ import annotations

from typing import Final

from warpsmith.tree.types import INT, VOID, FunctionType, Scalar, Symbol

__all__ = ["WARP_KEY", "WARP_SYNC", "warp_function"]

WARP_KEY: Final = "warp:"
"""How the keys of functions begin that combine values; the operation and the type follow."""

WARP_SYNC: Final = Symbol("warp_sync", "carried:warp_sync", FunctionType(VOID, (INT,), False), "function", None)
"""Waits until all lanes are here, and see what each of them has stored."""


def warp_function(op: str, type: Scalar) -> Symbol:
    """Return the function that combines a value of each lane by `op`, for all of them."""
    signature = FunctionType(type, (type, INT), False)
    return Symbol(f"warp {op} {type.name}", f"{WARP_KEY}{op}:{type.name}", signature, "function", None)
