"""The rules of the caches, on requests whose counts are worked by hand."""

from __future__ import annotations

import pytest

from tests.simt.caches.requests import ATOMIC, LOAD, STORE, random_requests, requests_of
from warpsmith.simt.caches.model import CacheCounts, CacheGeometry
from warpsmith.simt.caches.reference import simulate_caches

ONE = CacheGeometry(units=1, resident=1, first_sets=1, first_ways=2, second_sets=1, second_ways=4)


def counts(geometry: CacheGeometry, *blocks: list[tuple[int, int, list[int]]]) -> dict[str, int]:
    """Return what is counted of one array, without zeros."""
    (row,) = simulate_caches(geometry, requests_of(*blocks), 1)
    return {CacheCounts(at).name.lower(): int(n) for at, n in enumerate(row) if n}


def test_a_sector_is_read_once_and_its_neighbor_as_well() -> None:
    found = counts(ONE, [(LOAD, 0, [8]), (LOAD, 0, [8, 9])])
    # sector 9 is in the line of sector 8, and has to come by itself
    assert found == {"loads": 3, "first_hits": 1, "read": 2}


def test_the_line_that_was_asked_for_longest_ago_makes_room() -> None:
    found = counts(ONE, [(LOAD, 0, [4 * line]) for line in (1, 2, 1, 3, 1, 2)])
    # two lines fit: 3 takes the place of 2, since 1 was asked for again; the second cache still has 2
    assert found == {"loads": 6, "first_hits": 2, "read": 3, "second_hits": 1}


def test_lines_take_their_room_for_one_sector() -> None:
    apart = counts(ONE, [(LOAD, 0, [4 * line]) for line in (1, 2, 3, 1, 2, 3)])
    dense = counts(ONE, [(LOAD, 0, [sector]) for sector in (4, 5, 6, 4, 5, 6)])
    assert apart == {"loads": 6, "read": 3, "second_hits": 3}
    assert dense == {"loads": 6, "first_hits": 3, "read": 3}


def test_stores_are_kept_by_the_second_cache_until_their_line_makes_room() -> None:
    assert counts(ONE, [(STORE, 0, [4]), (STORE, 0, [4])]) == {"stores": 2, "written": 1}
    lines = [(STORE, 0, [4 * line]) for line in (1, 2, 3, 4, 5, 1)]
    assert counts(ONE, lines) == {"stores": 6, "written": 6}
    # what was stored is read from there, and not from memory
    assert counts(ONE, [(STORE, 0, [4]), (LOAD, 0, [4])]) == {
        "stores": 1, "loads": 1, "second_hits": 1, "written": 1
    }  # fmt: skip


def test_atomics_happen_in_the_second_cache() -> None:
    found = counts(ONE, [(ATOMIC, 0, [4]), (ATOMIC, 0, [4]), (LOAD, 0, [4])])
    assert found == {"atomics": 2, "read": 1, "second_hits": 2, "loads": 1, "written": 1}


def test_without_caches_all_comes_from_memory() -> None:
    none = CacheGeometry(1, 1, 0, 4, 0, 4)
    found = counts(none, [(LOAD, 0, [4]), (LOAD, 0, [4]), (STORE, 0, [4]), (STORE, 0, [4]), (ATOMIC, 0, [4])])
    assert found == {"loads": 2, "read": 3, "stores": 2, "written": 3, "atomics": 1}


@pytest.mark.parametrize(("units", "first_hits"), [(1, 1), (2, 0)])
def test_multiprocessors_have_first_caches_of_their_own(units: int, first_hits: int) -> None:
    geometry = CacheGeometry(units, 1, 1, 2, 1, 4)
    found = counts(geometry, [(LOAD, 0, [4])], [(LOAD, 0, [4])])
    assert found.get("first_hits", 0) == first_hits
    assert found["read"] == 1


@pytest.mark.parametrize(("resident", "first_hits"), [(1, 2), (2, 0)])
def test_blocks_that_run_together_take_turns(resident: int, first_hits: int) -> None:
    geometry = CacheGeometry(1, resident, 1, 1, 1, 16)
    # each block reads its own line twice: one after the other it is still there, in turns it is not
    blocks = [[(LOAD, 0, [4 * block])] * 2 for block in (1, 2)]
    assert counts(geometry, *blocks).get("first_hits", 0) == first_hits


@pytest.mark.parametrize("seed", range(20))
def test_what_is_asked_is_answered_once(seed: int) -> None:
    geometry, requests, arrays = random_requests(seed)
    total = simulate_caches(geometry, requests, arrays).sum(axis=0)
    asked = total[CacheCounts.LOADS] - total[CacheCounts.FIRST_HITS] + total[CacheCounts.ATOMICS]
    assert asked == total[CacheCounts.SECOND_HITS] + total[CacheCounts.READ]
    assert total[CacheCounts.WRITTEN] <= total[CacheCounts.STORES] + total[CacheCounts.ATOMICS]
    assert total[[CacheCounts.LOADS, CacheCounts.STORES, CacheCounts.ATOMICS]].sum() == len(requests.sectors)
