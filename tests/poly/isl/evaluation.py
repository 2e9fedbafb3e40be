"""The meaning of polynomials and formulas for given values of their atoms."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from warpsmith.poly.isl.formula import And, Compare, Formula, Or
from warpsmith.poly.isl.polynomial import Polynomial, atom, constant


def value_of(polynomial: Polynomial, values: Mapping[str, int]) -> int:
    total = 0
    for monomial, factor in polynomial.terms.items():
        product = factor
        for name in monomial:
            product *= values[name]
        total += product
    return total


def holds(formula: Formula, values: Mapping[str, int]) -> bool:
    match formula:
        case Compare(polynomial, equality):
            value = value_of(polynomial, values)
            return value == 0 if equality else value >= 0
        case And(parts):
            return all(holds(part, values) for part in parts)
        case Or(parts):
            return any(holds(part, values) for part in parts)


def random_polynomial(rng: random.Random, names: Sequence[str], degree: int) -> Polynomial:
    """Return a sum of up to three products of up to `degree` atoms, and a number."""
    total = constant(rng.randint(-4, 4))
    for _ in range(rng.randint(0, 3)):
        term = constant(rng.choice([-3, -2, -1, 1, 2, 3]))
        for _ in range(rng.randint(1, degree)):
            term = term * atom(rng.choice(names))
        total = total + term
    return total
