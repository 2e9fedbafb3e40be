"""Rank, kernel and solutions of small matrices of whole numbers, by elimination with fractions.

Invariant: a vector of a kernel is whole, has no common divisor, and its first entry that is not 0 is positive.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm

__all__ = ["kernel", "rank", "solve"]

Row = Sequence[int]


def rank(rows: Sequence[Row]) -> int:
    """Return the rank of a matrix."""
    return len(_reduce(rows)[1])


def kernel(rows: Sequence[Row], width: int) -> tuple[tuple[int, ...], ...]:
    """Return a basis of the vectors of `width` numbers that every row maps to 0."""
    reduced, pivots = _reduce(rows)
    free = [column for column in range(width) if column not in pivots]
    found: list[tuple[int, ...]] = []
    for column in free:
        vector = [Fraction(0)] * width
        vector[column] = Fraction(1)
        for place, pivot in enumerate(pivots):
            vector[pivot] = -reduced[place][column]
        found.append(_whole(vector))
    return tuple(found)


def solve(rows: Sequence[Row], values: Row, width: int) -> tuple[int, ...] | None:
    """Return whole numbers x with rows * x = values that are 0 wherever the rows leave a choice; None where there are
    no such numbers."""
    reduced, pivots = _reduce([[*row, value] for row, value in zip(rows, values, strict=True)])
    if width in pivots:
        return None
    found = [Fraction(0)] * width
    for place, pivot in enumerate(pivots):
        found[pivot] = reduced[place][width]
    return tuple(int(x) for x in found) if all(x.denominator == 1 for x in found) else None


def _reduce(rows: Sequence[Row]) -> tuple[list[list[Fraction]], list[int]]:
    """Return the reduced row echelon form without rows of zeros, and the column of the pivot of each row."""
    left = [[Fraction(entry) for entry in row] for row in rows]
    width = len(left[0]) if left else 0
    done: list[list[Fraction]] = []
    pivots: list[int] = []
    for column in range(width):
        at = next((k for k, row in enumerate(left) if row[column]), None)
        if at is None:
            continue
        chosen = left.pop(at)
        chosen = [entry / chosen[column] for entry in chosen]
        left = [_subtract(row, chosen, row[column]) for row in left]
        done = [_subtract(row, chosen, row[column]) for row in done]
        done.append(chosen)
        pivots.append(column)
    return done, pivots


def _subtract(row: list[Fraction], other: list[Fraction], factor: Fraction) -> list[Fraction]:
    return [a - factor * b for a, b in zip(row, other, strict=True)]


def _whole(vector: list[Fraction]) -> tuple[int, ...]:
    scale = lcm(*(entry.denominator for entry in vector))
    numbers = [int(entry * scale) for entry in vector]
    common = gcd(*numbers) or 1
    first = next((n for n in numbers if n), 1)
    return tuple(n // common * (1 if first > 0 else -1) for n in numbers)
