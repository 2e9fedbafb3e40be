"""The elements that a reference touches in a small instance of its nest, in the order of the iterations: for pictures.

Every parameter is SIZE, every loop around the nest stands at 1, and counters run below LIMIT: so a loop with numbers
for bounds is seen at its beginning. What rests on more than counters and parameters (a quotient, data) has no sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import prod
from typing import assert_never

from warpsmith.poly.isl.formula import And, Compare, Formula, Or
from warpsmith.poly.isl.polynomial import Polynomial
from warpsmith.poly.isl.vocabulary import AtomVocabulary
from warpsmith.poly.patterns.matrices import AffineRow

__all__ = ["LIMIT", "SIZE", "touched", "visits"]

NumberRow = tuple[Sequence[int], int]

SIZE = 6
LIMIT = 8
_MOST_COUNTERS = 4


def visits(
    vocabulary: AtomVocabulary, domain: Formula, counters: Sequence[str], rows: Sequence[AffineRow]
) -> tuple[tuple[int, ...], ...]:
    """Return the subscripts of the elements, each where it is touched first; none where there is no sample."""
    if len(counters) > _MOST_COUNTERS or any(row.irregular for row in rows):
        return ()
    made = [_numbers(vocabulary, row) for row in rows]
    known = [numbers for numbers in made if numbers is not None]
    if len(known) < len(made):
        return ()
    points: list[tuple[int, ...]] = []
    for point in product(range(LIMIT), repeat=len(counters)):
        holds = _holds(vocabulary, domain, dict(zip(counters, point, strict=True)))
        if holds is None:
            return ()
        if holds:
            points.append(point)
    return touched(known, points)


def touched(rows: Sequence[NumberRow], points: Iterable[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Return the subscripts at some points, each where it is met first; a row is the factors of the counters, and what
    is added to their sum."""
    subscripts = (
        tuple(rest + sum(f * p for f, p in zip(factors, point, strict=True)) for factors, rest in rows)
        for point in points
    )
    return tuple(dict.fromkeys(subscripts))


def _numbers(vocabulary: AtomVocabulary, row: AffineRow) -> NumberRow | None:
    factors = [_value(vocabulary, c, {}) for c in row.counters]
    rest = _value(vocabulary, row.rest, {})
    known = [f for f in factors if f is not None]
    return None if rest is None or len(known) < len(factors) else (known, rest)


def _holds(vocabulary: AtomVocabulary, formula: Formula, at: Mapping[str, int]) -> bool | None:
    """Whether a condition holds; None where its value is not known."""
    match formula:
        case Compare(polynomial=polynomial, equality=equality):
            value = _value(vocabulary, polynomial, at)
            return None if value is None else value == 0 if equality else value >= 0
        case And(parts=parts):
            found = [_holds(vocabulary, part, at) for part in parts]
            return False if False in found else None if None in found else True
        case Or(parts=parts):
            found = [_holds(vocabulary, part, at) for part in parts]
            return True if True in found else None if None in found else False
        case _:
            assert_never(formula)


def _value(vocabulary: AtomVocabulary, polynomial: Polynomial, at: Mapping[str, int]) -> int | None:
    total = 0
    for monomial, factor in polynomial.terms.items():
        values = [_atom(vocabulary, name, at) for name in monomial]
        if any(v is None for v in values):
            return None
        total += factor * prod(v for v in values if v is not None)
    return total


def _atom(vocabulary: AtomVocabulary, name: str, at: Mapping[str, int]) -> int | None:
    if name in at:
        return at[name]
    known = vocabulary[name]
    match known.kind:
        case "parameter":
            return SIZE
        case "counter":
            return 1
        case "product":
            values = [_atom(vocabulary, part, at) for part in known.parts]
            return None if any(v is None for v in values) else prod(v for v in values if v is not None)
        case "quotient":
            return None
        case _:
            assert_never(known.kind)
