"""Caches against a slow reference: a list of all that was asked, searched anew each time."""

from __future__ import annotations

import random

import pytest

from warpsmith.machine.simt.parameters import CacheShape, MemoryShape
from warpsmith.simt.clocks.caches import Dram, LineCache


class Slow:
    """Which lines a cache holds, from the history of requests alone."""

    def __init__(self, shape: CacheShape, line: int) -> None:
        self.shape, self.sets = shape, shape.sets(line)
        self.asked: list[tuple[int, bool]] = []

    def ask(self, number: int) -> tuple[bool, bool]:
        """Return whether a request hits, and whether it drives a line out."""
        held: list[int] = []
        for asked, hit in self.asked:
            if asked % self.sets == number % self.sets and (self.shape.replacement == "lru" or not hit):
                held = [one for one in held if one != asked] + [asked]
                held = held[-self.shape.ways :]
        hit = number in held
        self.asked.append((number, hit))
        return hit, not hit and len(held) == self.shape.ways


@pytest.mark.parametrize("seed", range(30))
def test_hits_misses_and_evictions(seed: int) -> None:
    made = random.Random(seed)
    ways = made.choice([1, 2, 3, 4])
    shape = CacheShape(64 * ways * made.choice([1, 2, 4]), ways, 2, made.choice(["fifo", "lru"]))
    cache, slow = LineCache(shape, 64, Dram(MemoryShape(5, 64), 64)), Slow(shape, 64)
    for clock in range(200):
        number = made.randint(0, 20)
        hit, evicted = slow.ask(number)
        cache.look(number, clock, 3)
        assert cache.events[clock, 3] == [int(hit), int(not hit), int(evicted)]


def test_memory_moves_a_line_after_the_other() -> None:
    dram = Dram(MemoryShape(10, 48), 64)
    # 64 bytes end in clock 2 (48 a clock), 128 in clock 3; then nothing up to clock 9
    assert [dram.look(0, 0, 0), dram.look(1, 0, 0), dram.look(2, 9, 0)] == [12, 13, 9 + 2 + 10]
    assert dram.bytes == 192


def test_no_cache_costs_nothing() -> None:
    dram = Dram(MemoryShape(10, 64), 64)
    assert LineCache(CacheShape(0, 8, 99), 64, dram).look(7, 0, 0) == 11
