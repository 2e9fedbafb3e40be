"""The elements that a reference touches in a small instance of its nest, in the order of the iterations: for pictures.

Every parameter is SIZE, every loop around the nest stands at 1, and counters run below LIMIT: so a loop with numbers
for bounds is seen at its beginning. What rests on more than counters and parameters (a quotient, data) has no sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import assert_never

from warpsmith.poly.isl.formula import And, Compare, Formula, Or
from warpsmith.poly.isl.polynomial import Polynomial
from warpsmith.poly.isl.vocabulary import AtomVocabulary
from warpsmith.poly.patterns.matrices import AffineRow

__all__ = ["SIZE", "visits"]

SIZE = 6
LIMIT = 8
_MOST_COUNTERS = 4


def visits(
    vocabulary: AtomVocabulary, domain: Formula, counters: Sequence[str], rows: Sequence[AffineRow]
) -> tuple[tuple[int, ...], ...]:
    """Return the subscripts of the elements, each where it is touched first; none where there is no sample."""
    if len(counters) > _MOST_COUNTERS or any(row.irregular for row in rows):
        return ()
    found: dict[tuple[int, ...], None] = {}
    for point in product(range(LIMIT), repeat=len(counters)):
        at = dict(zip(counters, point, strict=True))
        holds = _holds(vocabulary, domain, at)
        if holds is None:
            return ()
        if holds:
            subscripts = [_subscript(vocabulary, row, point) for row in rows]
            if any(s is None for s in subscripts):
                return ()
            found[tuple(s for s in subscripts if s is not None)] = None
    return tuple(found)


def _subscript(vocabulary: AtomVocabulary, row: AffineRow, point: Sequence[int]) -> int | None:
    factors = [_value(vocabulary, c, {}) for c in row.counters]
    rest = _value(vocabulary, row.rest, {})
    if rest is None or any(f is None for f in factors):
        return None
    return rest + sum(f * p for f, p in zip(factors, point, strict=True) if f is not None)


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
