"""Bounds of polynomials that multiply counters: `i*n + j` in unsigned arithmetic stays below 2^32 if n*n does.

A counter whose coefficient has one sign is replaced by its least or greatest value, innermost first, until only
parameters are left:  2^32 - 1 - i*n - j  >=  2^32 - 1 - i*n - (n - 1)  >=  2^32 - (n - 1)*n - n  =  2^32 - n*n.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from warpsmith.poly.isl.polynomial import ONE, ZERO, Polynomial, atom
from warpsmith.poly.isl.vocabulary import AtomVocabulary, Divided

__all__ = ["least_by_division", "least_value", "product_limit", "quotients_as_dividends"]

_SAFE = 2**62


def least_value(
    value: Polynomial,
    counters: Sequence[str],
    limits: Mapping[str, tuple[Polynomial | None, Polynomial | None]],
    nonnegative: Callable[[Polynomial], bool],
) -> Polynomial | None:
    """Return a polynomial over parameters that `value` never falls below; None where a sign is not known.

    `counters` stand innermost first; `limits` are their least and greatest values, over counters around them.
    """
    for name in counters:
        if name not in value.atoms():
            continue
        factor = value.coefficient(name)
        if factor is None or name not in limits:
            return None
        if nonnegative(factor):
            end = limits[name][0]
        elif nonnegative(-factor):
            end = limits[name][1]
        else:
            return None
        if end is None:
            return None
        value = value.substitute(name, end)
    return value


def quotients_as_dividends(vocabulary: AtomVocabulary, value: Polynomial) -> Polynomial:
    """Return a polynomial that `value` never falls below, without the quotients e / m that stand beside their m:
    e - m + 1 <= e / m * m <= e."""
    for name in sorted(value.atoms()):
        meaning = vocabulary[name].meaning
        factor = value.coefficient(name)
        if not isinstance(meaning, Divided) or meaning.quotient != name or factor is None or not factor.terms:
            continue
        dividend, divisor = (vocabulary.multiply_out(side) for side in (meaning.value, meaning.divisor))
        times = _ratio(factor, divisor)
        if times is not None and divisor.number is None:
            least = dividend if times < 0 else dividend - divisor + ONE
            value = value.drop_name(name) + least.scale(times)
    return value


def least_by_division(vocabulary: AtomVocabulary, value: Polynomial) -> tuple[Polynomial, tuple[Polynomial, ...]]:
    """Return a polynomial, and others: `value` never falls below the first where none of the others is negative.

    q = e / m, r = e % m:   q m = e - r,   and 0 <= q w <= 2 (e - r) for a number or variable w with 0 <= w <= 2 m."""
    total, needed = ZERO, list[Polynomial]()
    for monomial, times in value.terms.items():
        name = next((n for n in monomial if _is_quotient(vocabulary, n)), None) if len(monomial) == 2 else None
        meaning = None if name is None else vocabulary[name].meaning
        if name is None or not isinstance(meaning, Divided):
            total = total + Polynomial({monomial: times})
            continue
        (other,) = [n for n in monomial if n != name] or [name]
        whole, width = meaning.value - atom(meaning.remainder), atom(other)
        if meaning.divisor == width:
            total = total + whole.scale(times)
            continue
        needed += [width, meaning.divisor.scale(2) - width]
        if times < 0:
            total = total + whole.scale(2 * times)
    return total, tuple(needed)


def _is_quotient(vocabulary: AtomVocabulary, name: str) -> bool:
    meaning = vocabulary[name].meaning
    return isinstance(meaning, Divided) and meaning.quotient == name


def _ratio(value: Polynomial, divisor: Polynomial) -> int | None:
    """Return c where value = c * divisor."""
    monomial, unit = next(iter(divisor.terms.items()), ((), 0))
    times, rest = divmod(value.terms.get(monomial, 0), unit) if unit else (0, 1)
    return times if rest == 0 and value - divisor.scale(times) == ZERO else None


def product_limit(value: Polynomial, plainly: Callable[[Polynomial], bool]) -> tuple[Polynomial, int] | None:
    """Return (terms, limit) such that terms <= limit shows value >= 0, all terms nonnegative; None where it cannot."""
    limit = value.constant_term
    terms = Polynomial({m: -c for m, c in value.terms.items() if m and c < 0})
    rest = Polynomial({m: c for m, c in value.terms.items() if m and c > 0})
    if limit <= 0 or not terms.terms or not plainly(terms) or not plainly(rest):
        return None
    return terms, min(limit, _SAFE)
