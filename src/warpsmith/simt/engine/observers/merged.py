"""Races between blocks that ran on different threads of this computer, each of which kept cells of its own.

    thread 1   cell: kinds of accesses of its blocks   load            load  store
    thread 2   cell of the same granule                load  atomic    load
                                                       fine  race      race

Blocks have no barrier between them, so it is enough that two threads touched one granule, and not only by loads or only
by atomics. What blocks of one thread do to each other, its own cells have shown (races.py)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warpsmith.simt.engine.observers.races import CELL, KINDS
from warpsmith.simt.engine.words import Array

__all__ = ["race_between"]

_WORDS = CELL // 8
_ALL = (1 << len(KINDS)) - 1
_ALONE = tuple(1 << KINDS.index(kind) for kind in ("load", "atomic"))
"""Kinds of which different blocks may have any number, and nothing else."""


def race_between(threads: Sequence[Array]) -> bool:
    """Return whether blocks of two threads race: the words of the cells of one buffer, for each thread."""
    seen = np.zeros(len(threads[0]) // _WORDS, "u1")
    for words in threads:
        head = words[::_WORDS]
        kinds = ((head | head >> len(KINDS)) & _ALL).astype("u1")
        both = seen | kinds
        if np.any((seen != 0) & (kinds != 0) & ~np.isin(both, _ALONE)):
            return True
        seen = both
    return False
