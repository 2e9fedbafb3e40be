"""Systems of inequalities that have no solution, against trying all small numbers."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product

import pytest

from warpsmith.analysis.affine import inequalities
from warpsmith.analysis.affine.inequalities import ONE, Row, have_no_solution

Patch = pytest.MonkeyPatch
NUMBERS = range(-4, 5)
COUNT = 3


def _system(seed: int) -> tuple[list[Row], list[Row]]:
    """Return rows about three numbers from -4 to 4."""
    rng = random.Random(seed)

    def row() -> Row:
        return {v: rng.choice((-3, -2, -1, -1, 0, 0, 1, 1, 2, 4)) for v in range(COUNT)} | {ONE: rng.randint(-7, 5)}

    bounds: list[Row] = [{v: sign, ONE: 4} for v in range(COUNT) for sign in (1, -1)]
    return [row() for _ in range(rng.choice((0, 0, 1, 2)))], [*bounds, *(row() for _ in range(rng.randint(1, 4)))]


def _has_solution(zero: list[Row], positive: list[Row]) -> bool:
    def value(row: Row, numbers: tuple[int, ...]) -> int:
        return sum(c * (1 if v == ONE else numbers[v]) for v, c in row.items())

    return any(
        all(value(row, n) == 0 for row in zero) and all(value(row, n) >= 0 for row in positive)
        for n in product(NUMBERS, repeat=COUNT)
    )


def _wrong(seeds: range) -> list[int]:
    return [seed for seed in seeds if have_no_solution(*_system(seed)) and _has_solution(*_system(seed))]


def test_what_is_said_to_have_no_solution_has_none() -> None:
    seeds = range(600)
    assert not _wrong(seeds)
    none = [seed for seed in seeds if not _has_solution(*_system(seed))]
    found = [seed for seed in none if have_no_solution(*_system(seed))]
    assert len(none) > 150
    assert len(found) >= 0.9 * len(none)


@pytest.mark.parametrize(
    ("zero", "positive", "none"),
    [
        ([{0: 1, 1: -1, 2: -1}], [{2: 1, 0: -1, ONE: -1}, {1: 1}], True),
        ([{0: 2, 1: -4, ONE: 1}], [], True),
        ([], [{0: 2, ONE: -1}, {0: -2, ONE: 1}], True),
        ([], [{0: 1}, {0: -1, ONE: 3}], False),
        ([], [], False),
        ([{ONE: 1}], [], True),
    ],
)
def test_rows_by_hand(zero: list[Row], positive: list[Row], *, none: bool) -> None:
    assert have_no_solution(zero, positive) == none


def _less(row: Row) -> Row:
    return {**row, ONE: row.get(ONE, 0) - 1}


def _rounds_the_wrong_way(patch: Patch) -> None:
    original = inequalities._add
    patch.setattr(inequalities, "_add", lambda known, rows: original(known, [_less(row) for row in rows]))


def _adds_as_they_are(patch: Patch) -> None:
    def combine(one: Row, other: Row, variable: int) -> dict[int, int]:
        made = {v: one.get(v, 0) + other.get(v, 0) for v in {*one, *other}}
        return {v: c for v, c in made.items() if c and v != variable}

    patch.setattr(inequalities, "_combine", combine)


def _loses_a_factor(patch: Patch) -> None:
    def substitute(row: dict[int, int], equal: Row, variable: int) -> dict[int, int]:
        factor = row.get(variable, 0)
        made = {v: row.get(v, 0) - factor * equal.get(v, 0) for v in {*row, *equal}}
        return {v: c for v, c in made.items() if c and v != variable}

    patch.setattr(inequalities, "_substitute", substitute)


@pytest.mark.slow
@pytest.mark.parametrize("bug", [_rounds_the_wrong_way, _adds_as_they_are, _loses_a_factor])
def test_a_seeded_bug_is_seen(bug: Callable[[Patch], None], monkeypatch: Patch) -> None:
    bug(monkeypatch)
    assert _wrong(range(600))
