"""Sizes of caches become sets; lines are spread over them."""

from __future__ import annotations

from collections import Counter

import pytest

from warpsmith.simt.caches.model import geometry_of, hashed_set


def test_sizes_become_sets_of_sixteen_lines() -> None:
    found = geometry_of(108, 4, 192 << 10, 40 << 20)
    assert (found.units, found.resident) == (108, 4)
    assert found.first_sets * found.first_ways * 128 == 192 << 10
    assert found.second_sets * found.second_ways * 128 == 40 << 20
    assert geometry_of(1, 1, 0, 1000).first_sets == 0


@pytest.mark.parametrize("stride", [1, 8, 64, 1024, 4096, 12_345])
def test_strides_do_not_meet_in_one_set(stride: int) -> None:
    sets = Counter(hashed_set(stride * n, 64) for n in range(1024))
    assert max(sets.values()) <= 5 * 1024 // 64
