"""Requests in rows cost what `machine/requests.py` says of each."""

from __future__ import annotations

import random

import numpy as np
import pytest

from warpsmith.analysis.counts.requests import count_local_sectors, count_sectors, count_ways, count_words
from warpsmith.machine.requests import bank_ways, local_sectors, sectors, words


@pytest.mark.parametrize("seed", range(60))
def test_rows_cost_what_requests_do(seed: int) -> None:
    chosen = random.Random(seed)
    size, width = chosen.choice((1, 2, 4, 4, 8, 16)), chosen.choice((8, 32, 32, 64))
    addresses = np.zeros((5, width), np.int64)
    there = np.zeros((5, width), np.bool_)
    for row in range(5):
        stride, start = chosen.choice((0, 1, 2, 4, 8, 12, 36, 128, -4)), chosen.randrange(4096, 8192)
        for lane in range(width):
            addresses[row, lane] = start + stride * lane + chosen.choice((0, 0, 0, 4, 32))
            there[row, lane] = chosen.random() < chosen.choice((0.3, 1.0))
        there[row, 0] = True
    asked = [{lane: int(a[lane]) for lane in range(width) if t[lane]} for a, t in zip(addresses, there, strict=True)]
    assert count_sectors(addresses, there, size).tolist() == [sectors(one, size) for one in asked]
    assert count_ways(addresses, there, size).tolist() == [bank_ways(one, size) for one in asked]
    assert count_words(addresses, there, size).tolist() == [words(one, size) for one in asked]
    assert count_local_sectors(addresses, there, size).tolist() == [local_sectors(one, size) for one in asked]
    lines = [len({b // 128 for a in one.values() for b in (a, a + size - 1)}) for one in asked]
    assert count_sectors(addresses, there, size, 128).tolist() == lines
