"""Conditions on integers: comparisons of polynomials with zero, joined by and, or.

    Formula = Compare(polynomial, equality)      polynomial >= 0, or polynomial = 0
            | And(parts) | Or(parts)             And(()) is true, Or(()) is false

`negate` is exact because values are integers: not (p >= 0) is -p - 1 >= 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, assert_never

from msgspec import Struct

from warpsmith.poly.isl.polynomial import Polynomial

__all__ = [
    "FALSE",
    "TRUE",
    "And",
    "Compare",
    "Formula",
    "Or",
    "at_least",
    "atoms_of",
    "both",
    "either",
    "equal",
    "follows",
    "negate",
    "options",
]


class Compare(Struct, frozen=True):
    """`polynomial >= 0`, or `polynomial = 0` where `equality`."""

    polynomial: Polynomial
    equality: bool


class And(Struct, frozen=True):
    """All parts hold."""

    parts: tuple[Formula, ...]


class Or(Struct, frozen=True):
    """One part holds."""

    parts: tuple[Formula, ...]


Formula = Compare | And | Or

_MOST_SUMMED: Final = 3
"""Subscripts of triangular nests need this many: from i >= 0, j > i and k > j that k >= 0."""

TRUE = And(())
FALSE = Or(())


def at_least(left: Polynomial, right: Polynomial) -> Formula:
    """Return left >= right."""
    return Compare(left - right, False)


def equal(left: Polynomial, right: Polynomial) -> Formula:
    """Return left = right."""
    return Compare(left - right, True)


def both(parts: Iterable[Formula]) -> Formula:
    """Return the conjunction, flattened; FALSE where a part is FALSE."""
    flat: list[Formula] = []
    for part in parts:
        if part == FALSE:
            return FALSE
        flat += part.parts if isinstance(part, And) else (part,)
    return flat[0] if len(flat) == 1 else And(tuple(flat))


def either(parts: Iterable[Formula]) -> Formula:
    """Return the disjunction, flattened; TRUE where a part is TRUE."""
    flat: list[Formula] = []
    for part in parts:
        if part == TRUE:
            return TRUE
        flat += part.parts if isinstance(part, Or) else (part,)
    return flat[0] if len(flat) == 1 else Or(tuple(flat))


def negate(formula: Formula) -> Formula:
    """Return the exact complement."""
    match formula:
        case Compare(polynomial, equality):
            below = Compare((-polynomial).shift(-1), False)
            return Or((Compare(polynomial.shift(-1), False), below)) if equality else below
        case And(parts):
            return either(negate(p) for p in parts)
        case Or(parts):
            return both(negate(p) for p in parts)
        case _:
            assert_never(formula)


def atoms_of(formula: Formula) -> frozenset[str]:
    """Return the atoms that a formula mentions."""
    found: set[str] = set()
    pending = [formula]
    while pending:
        part = pending.pop()
        if isinstance(part, Compare):
            found.update(*part.polynomial.terms)
        else:
            pending += part.parts
    return frozenset(found)


def follows(value: Polynomial, parts: Iterable[Formula]) -> bool:
    """Whether value >= 0 is the sum of a few comparisons that hold where all `parts` do, and a number >= 0: found
    without isl, in most cases. False says nothing."""
    known: list[Polynomial] = []
    for part in parts:
        for one in part.parts if isinstance(part, And) else (part,):
            if isinstance(one, Compare):
                known += [one.polynomial, -one.polynomial] if one.equality else [one.polynomial]
    return _is_sum(value, known, _MOST_SUMMED)


def _is_sum(value: Polynomial, known: list[Polynomial], most: int) -> bool:
    """Whether `value` is the sum of at most so many of `known` and a number >= 0."""
    first = next((monomial for monomial in value.terms if monomial), None)
    if first is None:
        return value.constant_term >= 0
    factor = value.terms[first]
    return most > 0 and any(_is_sum(value - p, known, most - 1) for p in known if p.terms.get(first) == factor)


def options(formula: Formula) -> tuple[Formula, ...]:
    """Return the parts of a disjunction; any other formula is its only part."""
    return formula.parts if isinstance(formula, Or) else (formula,)
