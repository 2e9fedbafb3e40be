"""Bounds of polynomials that multiply counters: `i*n + j` in unsigned arithmetic stays below 2^32 if n*n does.

A counter whose coefficient has one sign is replaced by its least or greatest value, innermost first, until only
parameters are left:  2^32 - 1 - i*n - j  >=  2^32 - 1 - i*n - (n - 1)  >=  2^32 - (n - 1)*n - n  =  2^32 - n*n.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from warpsmith.poly.isl.polynomial import Polynomial

__all__ = ["least_value", "product_limit"]

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


def product_limit(value: Polynomial, plainly: Callable[[Polynomial], bool]) -> tuple[Polynomial, int] | None:
    """Return (terms, limit) such that terms <= limit shows value >= 0, all terms nonnegative; None where it cannot."""
    limit = value.constant_term
    terms = Polynomial({m: -c for m, c in value.terms.items() if m and c < 0})
    rest = Polynomial({m: c for m, c in value.terms.items() if m and c > 0})
    if limit <= 0 or not terms.terms or not plainly(terms) or not plainly(rest):
        return None
    return terms, min(limit, _SAFE)
