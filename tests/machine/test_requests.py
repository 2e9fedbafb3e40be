"""The cost of a warp's request: sectors, words, passes through the banks, each against counting by hand."""

from __future__ import annotations

import random

import pytest

from warpsmith.machine.requests import (
    bank_ways,
    conflicts_however_split,
    loads,
    local_sectors,
    phases,
    sectors,
    words,
)

LANES = range(32)


@pytest.mark.parametrize(
    ("addresses", "size", "expected"),
    [
        ({n: 4 * n for n in LANES}, 4, 4),
        ({n: 4 * n + 4 for n in LANES}, 4, 5),
        ({n: 32 * n for n in LANES}, 4, 32),
        ({n: 8 * n for n in LANES}, 8, 8),
        (dict.fromkeys(LANES, 64), 4, 1),
        ({0: 31}, 1, 1),
        ({0: 31}, 2, 2),
        ({}, 4, 0),
    ],
)
def test_sectors(addresses: dict[int, int], size: int, expected: int) -> None:
    assert sectors(addresses, size) == expected


@pytest.mark.parametrize(
    ("stride", "size", "ways"),
    [
        (4, 4, 1),
        (8, 4, 2),
        (128, 4, 32),
        (0, 4, 1),
        (132, 4, 1),
        (8, 8, 1),
        (16, 8, 2),
        (16, 16, 1),
        (32, 16, 2),
        (1, 1, 1),
    ],
)
def test_passes_through_the_banks(stride: int, size: int, ways: int) -> None:
    assert bank_ways({lane: stride * lane for lane in LANES}, size) == ways


def test_no_lane_needs_no_pass() -> None:
    assert bank_ways({}, 4) == 0 and words({}, 4) == 0 and local_sectors({}, 4) == 0


@pytest.mark.parametrize(("size", "count"), [(1, 1), (4, 1), (8, 2), (16, 4)])
def test_wide_requests_go_in_phases(size: int, count: int) -> None:
    parts = phases({lane: size * lane for lane in LANES}, size)
    assert len(parts) == count and [len(part) for part in parts] == [32 // count] * count
    assert sorted(lane for part in parts for lane in part) == list(LANES)
    assert list(parts[0]) == list(range(32 // count)), "neighbors share a phase"


def test_loads_count_different_words_of_each_bank() -> None:
    found = loads({0: 0, 1: 0, 2: 128, 3: 256, 4: 4}, 4)
    assert found[:3] == [3, 1, 0] and sum(found) == 4
    assert sum(loads({0: 2}, 4)) == 2, "it lies across two words"
    rng = random.Random(0)
    for _ in range(20):
        addresses = {lane: rng.randrange(0, 512) for lane in LANES}
        touched = {(a + k) // 4 for a in addresses.values() for k in range(8)}
        assert loads(addresses, 8) == [sum(word % 32 == bank for word in touched) for bank in range(32)]


def test_constant_words() -> None:
    assert words({lane: 4 * (lane % 3) for lane in LANES}, 4) == 3
    assert words({0: 0, 1: 2}, 2) == 1, "they lie in one word"
    assert words({0: 0, 1: 8, 2: 15}, 8) == 2


def test_conflicts_that_no_order_of_lanes_avoids() -> None:
    assert not conflicts_however_split({lane: 8 * lane for lane in LANES}, 8)
    assert conflicts_however_split({lane: 8 * lane for lane in LANES}, 4)
    assert not conflicts_however_split({lane: 4 * lane for lane in LANES}, 4)


def test_local_memory_is_interleaved() -> None:
    assert local_sectors(dict.fromkeys(LANES, 40), 4) == 4, "one run of 128 bytes"
    assert local_sectors({lane: 4 * lane for lane in LANES}, 4) == 32, "each lane has its own offset"
    assert local_sectors({0: 0, 1: 0, 8: 0}, 4) == 2
    assert local_sectors({0: 0}, 8) == 2 and local_sectors({0: 2}, 4) == 2
