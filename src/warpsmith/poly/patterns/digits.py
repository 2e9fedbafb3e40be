"""One subscript taken apart by numbers: `a[128*i + d]` as a[i][d], where d is proved to lie in [0, 128).

The rows of an array whose width is a number are not seen by the strides of its references (subscripts/delinearize.py),
which are parameters. Nothing is guarded for this: where the proof fails, the sum stays one row.
"""

from __future__ import annotations

from warpsmith.poly.isl.formula import Formula
from warpsmith.poly.isl.polynomial import Polynomial
from warpsmith.poly.regions.state import State

__all__ = ["split_by_numbers"]


def split_by_numbers(state: State, domain: Formula, value: Polynomial) -> tuple[Polynomial, ...]:
    """Return the subscripts, outermost first, that `value` stands for."""
    widths = sorted({abs(factor) for monomial, factor in value.terms.items() if monomial}, reverse=True)
    for width in widths:
        outer = Polynomial({m: f // width for m, f in value.terms.items() if f % width == 0})
        inner = Polynomial({m: f for m, f in value.terms.items() if f % width})
        if width > 1 and any(inner.terms) and any(outer.terms) and _lies_in(state, domain, inner, width):
            return (outer, *split_by_numbers(state, domain, inner))
    return (value,)


def _lies_in(state: State, domain: Formula, inner: Polynomial, width: int) -> bool:
    """Whether 0 <= inner < width is proved."""
    allowed, state.guards = state.guards, False
    try:
        return state.require_on(domain, (inner, (-inner).shift(width - 1)), "a subscript")
    finally:
        state.guards = allowed
