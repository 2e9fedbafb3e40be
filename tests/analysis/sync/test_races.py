"""Which threads' bytes overlap, against trying every two of them; and iterations that may be the same moments."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import pytest

from tests.lower.harness import lowered
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.sync.races import _may_agree, overlap
from warpsmith.analysis.uniformity.facts import LaunchShape
from warpsmith.machine.devices import device


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


SHARED = """
__global__ void k(int *a, int n)
{
    __shared__ int t[16], s[66], u[80];
    t[threadIdx.x & 15] = 2;
    s[threadIdx.x + 1] = 1;
    u[threadIdx.x + (n & 15)] = 3;
    a[threadIdx.x] = s[threadIdx.x] + t[3] + u[threadIdx.x + (n & 15) + 1];
}
"""


def test_the_byte_is_named_where_it_is_known(tmp_path: Path) -> None:
    facts = examine(lowered(SHARED, tmp_path, "k.cu").module, "k", LaunchShape((64, 1, 1)), device("h100"))
    told = {(r.variable, r.offset) for r in facts.races if r.reach == "block"}
    assert told == {("t", 0), ("t", 12), ("s", 4), ("u", None)}
    for race in facts.races:
        one, two = race.first.thread, race.second.thread
        assert one is not None and two is not None
        if race.offset == 12:
            assert one.index[0] % 16 == 3


# what an iteration writes behind its barrier, and the next one before its own
NEXT = "for (int i = 0; i < n; i++) {{ s[64 * i + t] = i; __syncthreads(); s[64 * i + {} + 63 - t] = 1; }}"
# the inner loop's last iteration writes where the first one of the next outer iteration does
ANEW = """for (int o = 0; o < n; o++) { int i = 8;
    do { s[64 * i + 63 - t] = 1; __syncthreads(); s[64 * i + 448 + t] = 2; i >>= 1; } while (i > 0); }"""
# one of two halves, in turn: where i is 1 it meets the next iteration, where i is 0
TURNS = """int i = 0;
    for (int o = 0; o < n; o++) { s[64 * i + 128 + 63 - t] = 1; __syncthreads(); s[64 * i + 64 + t] = 2; i ^= 1; }"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (NEXT.format(64), [("conditional", 508)]),
        (NEXT.format(128), []),
        (ANEW, [("conditional", 2048)]),
        (TURNS, [("conditional", 512)]),
        ("s[t] = 1; if (n > 3) a[t] = 1; a[t + 64] = s[t + 1];", [("proven", 4)]),
        ("if (n > 3) { s[t] = 1; __syncthreads(); s[t + 1] = 2; }", []),
    ],
)
def test_places_of_other_iterations_are_where_they_are_then(
    body: str, expected: list[tuple[str, int | None]], tmp_path: Path
) -> None:
    text = f"__global__ void k(int *a, int n) {{ __shared__ int s[1088]; int t = threadIdx.x; {body} }}\n"
    facts = examine(lowered(text, tmp_path, "k.cu").module, "k", LaunchShape((64, 1, 1)), device("h100"))
    assert [(r.certainty, r.offset) for r in facts.races if r.space == "shared"] == expected
    assert facts.races_complete
