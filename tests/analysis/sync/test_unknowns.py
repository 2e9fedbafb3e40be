"""Inequalities about two threads: what real pairs of threads fulfil, row by row."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.analysis.sync.kernels_of_text import judge_of
from warpsmith.analysis.sync.unknowns import Poly, Unknowns, plus, times


def value(poly: Poly, numbers: dict[int, int]) -> int:
    """Return what a sum is."""
    total = 0
    for monomial, c in poly.items():
        for v in monomial:
            c *= numbers[v]
        total += c
    return total


def test_sums_and_products_are_those_of_numbers() -> None:
    rng = random.Random(7)
    for _ in range(200):
        one, other = (
            {tuple(sorted(rng.choices(range(3), k=rng.randint(0, 2)))): rng.randint(-3, 3) for _ in range(3)}
            for _ in range(2)
        )
        numbers = {v: rng.randint(-5, 5) for v in range(3)}
        assert value(plus(one, other, -2), numbers) == value(one, numbers) - 2 * value(other, numbers)
        assert value(times(one, other), numbers) == value(one, numbers) * value(other, numbers)


@pytest.mark.parametrize(
    ("test", "passes"),
    [
        ("t < n", lambda t, n: t < n),
        ("!(t < n)", lambda t, n: t >= n),
        ("t >= n && t < 40", lambda t, n: n <= t < 40),
        ("!(t <= n || t > 40)", lambda t, n: n < t <= 40),
        ("t == n", lambda t, n: t == n),
        ("t / 32 == 1", lambda t, n: t // 32 == 1),
        ("t % 32 > n", lambda t, n: t % 32 > n),
        ("t < n / 2", lambda t, n: t < n // 2),
        ("(unsigned)t < (unsigned)n", lambda t, n: t < n),
    ],
)
def test_a_thread_that_passes_fulfils_the_rows(test: str, passes: object, tmp_path: Path) -> None:
    assert callable(passes)
    judge, (place,) = judge_of(f"int t = threadIdx.x; if ({test}) a[t] = 1;", tmp_path)
    known = Unknowns(judge.forms, judge.presences, lambda atom: 0)
    known.be_at(place, 0)
    told = 0
    for t in range(64):
        for n in (0, 1, 5, 31, 50, 90):
            numbers = _numbers(known, t, n)
            holds = all(value(row, numbers) >= 0 for row in known.positive)
            holds = holds and all(value(row, numbers) == 0 for row in known.zero)
            assert holds or not passes(t, n)
            told += not holds
    assert told > 60


def _numbers(known: Unknowns, t: int, n: int) -> dict[int, int]:
    found: dict[int, int] = {}
    for key, number in known._numbers.items():
        assert isinstance(key, tuple)
        name = key[0] if isinstance(key[0], str) else key[0].name
        table = () if isinstance(key[0], str) else key[0].table
        if table:
            found[number] = table[t]
        else:
            found[number] = {"tid": t, "part": t // 32, "n": n}.get(name, n // 2)
    return found


def test_an_unknown_is_one_for_both_or_one_of_each(tmp_path: Path) -> None:
    judge, (place,) = judge_of("a[blockIdx.x * n + threadIdx.x] = 1;", tmp_path)
    known = Unknowns(judge.forms, judge.presences, lambda atom: None if atom.of_block else 0)
    assert place.address is not None
    one, other = known.poly(place.address, 0), known.poly(place.address, 1)
    assert one is not None and other is not None
    shared = {v for m in one for v in m} & {v for m in other for v in m}
    # the pointer and n
    assert len(shared) == 2
    assert len(known.differences(plus(one, other, -1))) == 2
