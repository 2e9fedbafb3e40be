"""Which threads' bytes overlap, against trying every two of them; and iterations that may be the same moments."""

from __future__ import annotations

import random
from itertools import product

import pytest

from warpsmith.analysis.sync.races import _may_agree, overlap


def meet(a: int, b: int, sizes: tuple[int, int, int]) -> bool:
    """Whether bytes from `a` on and from `b` on overlap, for some multiple of the third size between them."""
    size, other, modulus = sizes
    if not modulus:
        return a < b + other and b < a + size
    return any((a + i - b - j) % modulus == 0 for i, j in product(range(size), range(other)))


def apart(warp: int, one: int, two: int) -> bool:
    """Whether two threads are no pair: one thread, or of one warp where those do not count."""
    return one == two or bool(warp and one // warp == two // warp)


def _random(rng: random.Random) -> tuple[dict[int, int], dict[int, int], tuple[int, int, int], int]:
    unit = rng.choice((1, 1, 2, 4))
    threads = sorted(rng.sample(range(8), rng.randint(1, 8)))
    others = sorted(rng.sample(range(8), rng.randint(1, 8)))
    stride, shift = rng.choice((0, 1, 2, 3, 8)), rng.randint(-9, 9)
    mine = {t: unit * (stride * t + rng.choice((0, 0, 0, 1))) for t in threads}
    yours = {t: unit * (stride * t + shift + rng.choice((0, 0, 0, 5))) for t in others}
    sizes = unit * rng.choice((1, 2, 4)), unit * rng.choice((1, 2, 4)), unit * rng.choice((0, 0, 1, 3, 4, 7, 8, 16))
    return mine, yours, sizes, rng.choice((0, 0, 4))


def test_two_threads_overlap_exactly_where_trying_all_finds_some() -> None:
    rng = random.Random(20261123)
    met = {True: 0, False: 0}
    for _ in range(3000):
        mine, yours, sizes, warp = _random(rng)
        pairs = {(t, u) for t, u in product(mine, yours) if not apart(warp, t, u) and meet(mine[t], yours[u], sizes)}
        found = overlap(mine, yours, sizes, warp)
        assert (found in pairs) if pairs else found is None, (mine, yours, sizes, warp, found)
        met[bool(pairs)] += 1
    assert min(met.values()) > 400, met


@pytest.mark.parametrize(
    ("one", "two", "may"),
    [
        ({}, {}, True),
        ({"a": 1}, {}, True),
        ({"a": 1}, {"a": 1}, True),
        ({"a": 1}, {"a": 2}, False),
        ({"a": None}, {"a": 2}, True),
        ({"a": 1}, {"a": None}, True),
        ({"a": 1, "b": 0}, {"a": 1, "b": 1}, False),
        ({"a": 1, "b": None}, {"a": 1, "b": 1}, True),
    ],
)
def test_relations_agree_where_no_loop_tells_them_apart(
    one: dict[str, int | None], two: dict[str, int | None], may: bool
) -> None:
    assert _may_agree(one, two) == _may_agree(two, one) == may
