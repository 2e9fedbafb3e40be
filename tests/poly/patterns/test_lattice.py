"""Rank, kernel and solutions, against all small vectors."""

from __future__ import annotations

import random
from itertools import product

from warpsmith.poly.patterns.lattice import kernel, rank, solve

_BOX = range(-2, 3)


def _maps(rows: list[list[int]], vector: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sum(a * b for a, b in zip(row, vector, strict=True)) for row in rows)


def test_random_matrices() -> None:
    source = random.Random(11)
    for _ in range(300):
        width, height = source.randint(1, 3), source.randint(0, 3)
        rows = [[source.randint(-2, 2) for _ in range(width)] for _ in range(height)]
        basis = kernel(rows, width)
        assert rank(rows) + len(basis) == width and rank(basis) == len(basis)
        assert all(not any(_maps(rows, vector)) for vector in basis)
        for vector in product(_BOX, repeat=width):
            # a vector that the rows map to 0 is a combination of the basis, and no other is
            assert (rank([*basis, vector]) == len(basis)) == (not any(_maps(rows, vector)))
        wanted = tuple(source.randint(-3, 3) for _ in rows)
        found = solve(rows, wanted, width)
        if found is not None:
            assert _maps(rows, found) == wanted
        elif len(basis) == 0:
            assert all(_maps(rows, vector) != wanted for vector in product(range(-9, 10), repeat=width))


def test_vectors_have_one_form() -> None:
    assert kernel([[2, 4, 0]], 3) == ((2, -1, 0), (0, 0, 1))
    assert kernel([], 2) == ((1, 0), (0, 1)) and solve([], (), 2) == (0, 0)
    assert solve([[2]], (1,), 1) is None and solve([[0]], (1,), 1) is None
