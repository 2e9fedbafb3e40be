"""Unions as few pieces: the same points, and no corners cut off."""

from __future__ import annotations

import random

from warpsmith.poly.isl.library import isl
from warpsmith.poly.isl.space import Set
from warpsmith.poly.legality.joined import join_sets


def box(low: tuple[int, ...], high: tuple[int, ...]) -> Set:
    """Return a box in parameters a, b and c."""
    names = "abc"[: len(low)]
    inside = " and ".join(f"{x} <= {name} <= {y}" for name, x, y in zip(names, low, high, strict=True))
    return isl.Set.read_from_str(isl.DEFAULT_CONTEXT, f"[{', '.join(names)}] -> {{ : {inside} }}")


def union(sets: list[Set]) -> Set:
    whole = sets[0]
    for one in sets[1:]:
        whole = whole.union(one)
    return whole


def test_a_cross_is_two_rectangles() -> None:
    steps = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))
    sets = [box((1 + a, 1 + b), (9 + a, 9 + b)) for a, b in steps]
    found = join_sets(sets)
    assert len(found) == 2
    assert any(one.is_equal(box((0, 1), (10, 9))) for one in found)
    assert any(one.is_equal(box((1, 0), (9, 10))) for one in found)


def test_a_square_is_one() -> None:
    sets = [box((a, b), (9 + a, 9 + b)) for a in range(3) for b in range(3)]
    (found,) = join_sets(sets)
    assert found.is_equal(box((0, 0), (11, 11)))


def test_nothing_is_added_or_lost() -> None:
    chosen = random.Random(7)
    for _ in range(60):
        depth = chosen.randint(1, 3)
        sets: list[Set] = []
        for _ in range(chosen.randint(1, 14)):
            low = tuple(chosen.randint(-3, 4) for _ in range(depth))
            sets.append(box(low, tuple(one + chosen.randint(0, 5) for one in low)))
        found = join_sets(sets)
        assert union(found).is_equal(union(sets))
        assert all(one.n_basic_set() == 1 for one in found)
