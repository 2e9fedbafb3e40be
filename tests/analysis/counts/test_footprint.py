"""Footprints are the very bytes that are touched."""

from __future__ import annotations

import random

import numpy as np
import pytest

from warpsmith.analysis.counts import footprint
from warpsmith.analysis.counts.footprint import Intervals, TooManyIntervalsError, join, repeated, touched_units

Bytes = set[tuple[int, int]]


def _bytes(found: Intervals) -> Bytes:
    rows = zip(found.group.tolist(), found.low.tolist(), found.high.tolist(), strict=True)
    return {(group, byte) for group, low, high in rows for byte in range(low, high)}


@pytest.mark.parametrize("seed", range(80))
def test_repeating_is_moving_and_joining(seed: int) -> None:
    chosen = random.Random(seed)
    count = chosen.randint(1, 6)
    group = np.sort(np.array([chosen.randrange(3) for _ in range(count)], np.int64))
    low = np.array([chosen.randrange(0, 200) for _ in range(count)], np.int64)
    high = low + np.array([chosen.choice((1, 4, 8, 40)) for _ in range(count)], np.int64)
    times, by_group = chosen.randint(1, 9), [chosen.choice((0, 1, 4, 32, 100, -4)) for _ in range(3)]
    found = join(group, low, high)
    each = chosen.random() < 0.3
    steps = [chosen.choice((0, 4, 36)) if each else by_group[g] for g in found.group.tolist()]
    made = repeated(found, np.array(steps, np.int64), times)
    rows = list(zip(found.group.tolist(), found.low.tolist(), found.high.tolist(), steps, strict=True))
    wanted = {(g, byte + t * s) for g, a, b, s in rows for t in range(times) for byte in range(a, b)}
    assert _bytes(made) == wanted
    units = touched_units([made], 32)
    assert _bytes(units) == {(g, byte // 32) for g, byte in wanted}
    joined = list(zip(units.group.tolist(), units.low.tolist(), strict=True))
    assert joined == sorted(joined) and len(set(joined)) == len(joined)


def test_groups_far_apart_never_join() -> None:
    far = 1 << 60
    found = join(np.array([0, 1]), np.array([far, 0]), np.array([far + 4, 4]))
    assert found.low.tolist() == [far, 0] and found.group.tolist() == [0, 1]


def test_many_groups_far_apart_never_overflow() -> None:
    group = np.repeat(np.arange(0, 1 << 28, 1 << 20), 2)
    low = np.tile(np.array([1 << 36, 1 << 37]), len(group) // 2)
    found = join(group, low, low + 4)
    assert (found.group == group).all() and (found.low == low).all() and (found.high == low + 4).all()


def test_too_many_pieces_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(footprint, "MOST", 100)
    one = join(np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1, np.int64))
    with pytest.raises(TooManyIntervalsError):
        repeated(one, np.array([64]), 1000)
    assert repeated(one, np.array([1]), 1000).high.tolist() == [1000]
