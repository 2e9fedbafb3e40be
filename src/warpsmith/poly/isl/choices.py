"""Conditional expressions that are quotients or extremes, as generators of tiled loops write them.

    n < 0 ? -((-n + d - 1) / d) : n / d        floor(n / d)       one formula and not four
    a < b ? a : b                              min(a, b)          c <= min(a, b) is c <= a and c <= b

A choice that is neither is a disjunction of its two sides; a bound that nests ten of them is a disjunction of 2^10
sides once isl has multiplied it out. Both forms here are exact: they say the same of every integer.

Limits: the test of an extreme must compare the very values that are chosen; the two sides of a quotient must have
the same divisor.
"""

from __future__ import annotations

from warpsmith.poly.isl.formula import Compare, Formula, negate
from warpsmith.poly.isl.polynomial import Polynomial, atom
from warpsmith.poly.isl.vocabulary import AtomVocabulary, Extreme, Quotient

__all__ = ["common_quotient", "decide_comparison", "extreme_of"]


def decide_comparison(test: Formula) -> bool | None:
    """Return the value of a comparison of numbers; None for any other formula."""
    match test:
        case Compare(polynomial, equality) if (number := polynomial.number) is not None:
            return number == 0 if equality else number >= 0
        case _:
            return None


def extreme_of(test: Formula, then: Polynomial, other: Polynomial) -> Extreme | None:
    """Return the minimum or maximum that `test ? then : other` is, or None."""
    if not isinstance(test, Compare) or test.equality:
        return None
    below = other - then
    if test.polynomial in (below, below.shift(-1)):
        return Extreme(then, other, least=True)
    above = then - other
    if test.polynomial in (above, above.shift(-1)):
        return Extreme(then, other, least=False)
    return None


def common_quotient(
    vocabulary: AtomVocabulary, test: Formula, then: Polynomial, other: Polynomial
) -> tuple[Polynomial, int] | None:
    """Return (p, d) where `test ? then : other` is floor(p / d), or None."""
    first = _split_floor(vocabulary, test, then)
    return first if first is not None and first == _split_floor(vocabulary, negate(test), other) else None


def _split_floor(vocabulary: AtomVocabulary, known: Formula, value: Polynomial) -> tuple[Polynomial, int] | None:
    """Return (p, d) where `value`, a quotient or minus one, is floor(p / d) wherever `known` holds."""
    if len(value.terms) != 1 or len(value.atoms()) != 1:
        return None
    (name,) = value.atoms()
    meaning = vocabulary[name].meaning
    if not isinstance(meaning, Quotient):
        return None
    above, divisor = meaning.numerator, meaning.divisor
    down = meaning.floor or _implies(known, above)
    if not down and not _implies(known, -above):
        return None
    if value == atom(name):
        return (above if down else above.shift(divisor - 1)), divisor
    if value == -atom(name):
        return ((-above).shift(divisor - 1) if down else -above), divisor
    return None


def _implies(known: Formula, wanted: Polynomial) -> bool:
    """Whether an inequality that holds is, but for a positive factor and a number, that `wanted` >= 0."""
    if not isinstance(known, Compare) or known.equality:
        return False
    monomial = next((m for m in known.polynomial.terms if m), None)
    if monomial is None:
        return False
    have, want = known.polynomial.terms[monomial], wanted.terms.get(monomial, 0)
    if have * want <= 0:
        return False
    # |have| * wanted = |want| * known + number
    number = (wanted.scale(abs(have)) - known.polynomial.scale(abs(want))).number
    return number is not None and number >= 0
