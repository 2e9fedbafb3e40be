"""Races between blocks of several threads: compared with all pairs of accesses."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from warpsmith.simt.engine.observers.merged import race_between
from warpsmith.simt.engine.observers.races import CELL, KINDS
from warpsmith.simt.engine.words import Array


def _cells(*granules: tuple[str, ...]) -> Array:
    """Return cells that say which kinds of accesses were made, by the last block (even places) or by earlier ones."""
    words = np.zeros(len(granules) * CELL // 8, "<i8")
    for at, kinds in enumerate(granules):
        for place, kind in enumerate(kinds):
            # block 5, epoch 3, as they are beside the kinds
            words[at * CELL // 8] |= 5 << 32 | 3 << 8 | (1 << KINDS.index(kind)) << (3 if place % 2 == 0 else 0)
        words[at * CELL // 8 + 1] = -1
    return words


def _conflict(one: str, other: str) -> bool:
    return "store" in (one, other) or one != other


SETS = [kinds for count in range(4) for kinds in itertools.permutations(KINDS, count)]


@pytest.mark.parametrize("count", [2, 3])
def test_threads_race_where_two_of_their_accesses_conflict(count: int) -> None:
    seen = set()
    for sets in itertools.product(SETS[:: 1 if count == 2 else 3], repeat=count):
        pairs = itertools.combinations(sets, 2)
        expected = any(_conflict(a, b) for one, other in pairs for a in one for b in other)
        assert race_between([_cells((), kinds, ("load",)) for kinds in sets]) is expected, sets
        seen.add(expected)
    assert seen == {True, False}


def test_granules_are_looked_at_one_by_one() -> None:
    assert not race_between([_cells(("store",), ()), _cells((), ("store",))])
    assert race_between([_cells(("store",), ()), _cells((), ("store",)), _cells(("load",), ())])


def test_one_thread_does_not_race_with_itself() -> None:
    assert not race_between([_cells(("load", "store"))])
