"""Functions that CUDA does not have and ports bring with them, by names of their own: of the C library, and those that
copies to tiles are made of.

    x[i] = atof(text + 9 * i);      ws_atof(text_gpu + 9 * i), from runtime/read_real.cu

Invariant: what a part of `runtime/` has does what the C library's function does wherever the table of effects
(tree/effects.toml) lets kernels call it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Final

from warpsmith.emit.parts import select
from warpsmith.emit.words import Support
from warpsmith.tree.memory.shared_values import BLOCK_SYNC, WARP_SYNC
from warpsmith.tree.memory.tile_copies import FETCH_WIDE, LOAD_WIDE, TILE_COPIES
from warpsmith.tree.nodes import Name, Node
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import walk

__all__ = ["CARRIED", "library_names", "library_texts"]

CARRIED: Final[Mapping[str, str]] = {
    "atof": "read_real.cu",
    "atoi": "read_integer.cu",
    "atol": "read_integer.cu",
    "atoll": "read_integer.cu",
}
"""The functions of the C library, each with the part of `runtime/` that has it."""


_OURS: Final = frozenset({*TILE_COPIES, BLOCK_SYNC, WARP_SYNC})


def library_names(bodies: Iterable[Node], defined: Set[Symbol], support: Support) -> dict[Symbol, str]:
    """Return the name in device code of every function that `bodies` call and a port carries: those that the program
    has `defined` are its own, whatever their names."""
    named = (n.symbol for body in bodies for n in walk(body) if isinstance(n, Name))
    known = (s for s in named if s in _OURS or (s.storage == "function" and s.name in CARRIED))
    called = dict.fromkeys(s for s in known if s not in defined)
    return {symbol: f"{support.prefix}_{symbol.name}" for symbol in called}


def library_texts(called: Iterable[Symbol], support: Support) -> list[str]:
    """Return the parts that these functions stand in, each once, and what they include."""
    texts: list[str] = []
    seen: frozenset[str] = frozenset()
    for part in dict.fromkeys(_part_of(symbol) for symbol in called):
        if part not in seen:
            found = select(part, frozenset(), prefix=support.prefix, before=seen)
            texts.append(found.text.strip())
            seen |= found.files
    return texts


def _part_of(symbol: Symbol) -> str:
    """Return the part that has a function."""
    if symbol in FETCH_WIDE.values():
        return "tile_fetches.cu"
    if symbol in LOAD_WIDE.values():
        return "tile_loads.cu"
    if symbol in (BLOCK_SYNC, WARP_SYNC):
        return f"{symbol.name}.cu"
    return "tile_copies.cu" if symbol in TILE_COPIES else CARRIED[symbol.name]
