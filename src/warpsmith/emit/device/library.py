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
from warpsmith.tree.memory.tile_copies import ARRIVED, FETCH, LAND
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
_COPIES: Final = frozenset({FETCH, LAND, ARRIVED})
_COPIES_PART: Final = "tile_copies.cu"


def library_names(bodies: Iterable[Node], defined: Set[Symbol], support: Support) -> dict[Symbol, str]:
    """Return the name in device code of every function that `bodies` call and a port carries: those that the program
    has `defined` are its own, whatever their names."""
    named = (n.symbol for body in bodies for n in walk(body) if isinstance(n, Name))
    known = (s for s in named if s in _COPIES or (s.storage == "function" and s.name in CARRIED))
    called = dict.fromkeys(s for s in known if s not in defined)
    return {symbol: f"{support.prefix}_{symbol.name}" for symbol in called}


def library_texts(called: Iterable[Symbol], support: Support) -> list[str]:
    """Return the parts that these functions stand in, each once."""
    parts = dict.fromkeys(_COPIES_PART if symbol in _COPIES else CARRIED[symbol.name] for symbol in called)
    return [select(part, frozenset(), prefix=support.prefix).text.strip() for part in parts]
