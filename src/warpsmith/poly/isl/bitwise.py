"""`&` and division by what no counter moves, as atoms with bounds; `&` with a number, as quotients.

    i & 12        (floor(i/4) - 4 floor(i/16)) * 4          exact: each run of ones in a number is a remainder
    i & j         y, 0 <= y <= j, y <= i where i >= 0       bounds (j is invariant)
    i | j, i ^ j  i + j - y, i + j - 2y                     since i + j = (i ^ j) + 2 (i & j), carries apart
    t / h, t % h  q, r, 0 <= r < h, q = 0 and r = t where t < h, else q >= 1 and t - r >= h

All of it is arithmetic on integers of any length, in two's complement: what a C type makes of them is affine.py's part.

Limits: the atoms' formulas follow from their meanings and do not pin them down; the relation between two values of one
atom is in dependences/index_maps.py. One of two masked values, and every divisor, is invariant.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.poly.isl.formula import Formula, at_least, both, either, equal
from warpsmith.poly.isl.polynomial import ZERO, Polynomial, atom, constant
from warpsmith.poly.isl.vocabulary import AtomVocabulary, Divided, Masked

__all__ = ["divide", "mask_value", "ones"]

_MOST_RUNS = 4


def ones(mask: int) -> tuple[tuple[int, int], ...] | None:
    """Return the runs of ones of a number >= 0 as [lower, upper) bit numbers; None where there are many."""
    runs = tuple(_runs(mask))
    return runs if len(runs) <= _MOST_RUNS else None


def _runs(mask: int) -> Iterator[tuple[int, int]]:
    bit = 0
    while mask >> bit:
        low = bit
        while mask >> bit & 1:
            bit += 1
        if bit > low:
            yield low, bit
        bit += 1


def mask_value(vocabulary: AtomVocabulary, left: Polynomial, right: Polynomial) -> Polynomial | None:
    """Return `left & right`, one of which is invariant; None where neither is, or one is not linear."""
    first, second = vocabulary.linear(left), vocabulary.linear(right)
    if first is None or second is None:
        return None
    value, mask = (first, second) if _is_invariant(vocabulary, second) else (second, first)
    if not _is_invariant(vocabulary, mask):
        return None
    text = f"({vocabulary.text(value)} & {vocabulary.text(mask)})"
    name, new = vocabulary.quotient(("and", _key(value), _key(mask)), text)
    if new:
        vocabulary.define(name, _bound_mask(atom(name), value, mask), Masked(value, mask))
    return atom(name)


def _bound_mask(result: Polynomial, value: Polynomial, mask: Polynomial) -> Formula:
    """Return what holds of `value & mask`: no bit is added, and the sign bit is one bit of both."""
    minus = constant(-1)
    inside = both((at_least(result, ZERO), at_least(mask, result)))
    return either(
        (
            both((at_least(mask, ZERO), inside, either((at_least(value, result), at_least(minus, value))))),
            both((at_least(minus, mask), at_least(value, result), at_least(result, ZERO))),
            both((at_least(minus, mask), at_least(minus, value), at_least(value, result), at_least(mask, result))),
        )
    )


def divide(vocabulary: AtomVocabulary, value: Polynomial, divisor: Polynomial) -> tuple[Polynomial, Polynomial] | None:
    """Return (value / divisor, value % divisor) where value >= 0 and divisor >= 1; None where the divisor is not
    invariant, or one is not linear."""
    above, below = vocabulary.linear(value), vocabulary.linear(divisor)
    if above is None or below is None or not _is_invariant(vocabulary, below):
        return None
    texts = vocabulary.text(above), vocabulary.text(below)
    key = _key(above), _key(below)
    quotient, new = vocabulary.quotient(("quotient by", *key), f"({texts[0]})/({texts[1]})")
    remainder, _ = vocabulary.quotient(("remainder by", *key), f"({texts[0]})%({texts[1]})")
    if new:
        meaning = Divided(above, below, quotient, remainder)
        short, long = at_least(below.shift(-1), above), at_least(above, below)
        whole, rest = atom(quotient), atom(remainder)
        some = both((long, at_least(whole.shift(-1), ZERO), at_least(above, whole)))
        vocabulary.define(quotient, either((both((short, equal(whole, ZERO))), some)), meaning)
        inside = both((at_least(rest, ZERO), at_least(below.shift(-1), rest)))
        less = either((both((short, equal(rest, above))), both((long, at_least(above - rest, below)))))
        # the remainder is never there without the quotient: what holds of two values holds of both at once
        vocabulary.define(remainder, both((inside, less, at_least(whole, ZERO))), meaning)
    return atom(quotient), atom(remainder)


def _is_invariant(vocabulary: AtomVocabulary, value: Polynomial) -> bool:
    return all(vocabulary.invariant(name) for name in value.atoms())


def _key(value: Polynomial) -> frozenset[tuple[tuple[str, ...], int]]:
    return frozenset(value.terms.items())
