"""Two references whose subscripts go through `e & m` or `e / m`, for an m that no counter moves: when they are apart.

    for (i …) { l = i ^ j; if (l > i) … a[i] … a[l] … }       pairs {i, l}, each touched by its lesser member alone
    for (t …) { i = t / h * 2 * h + t % h; … a[i] … a[i + h] … }     row 2(t / h) and row 2(t / h) + 1, column t % h

In isl the atoms of such values (`Vocabulary.images`) are bounded only. What is known besides relates two values of one
map; it is true of all integers, so that adding it to the pairs of iterations that may touch one element, each with the
values of the maps in it, leaves every pair that really does. Where none is left there is no conflict.

Masked, y = e & m, and so e ^ m = e + m - 2y. For a fixed m, e -> e ^ m is its own inverse; hence of two values either
    e1 = e2 and y1 = y2,    or  e2 = e1 ^ m and e1 = e2 ^ m,    or neither e1 nor e1 ^ m is e2 or e2 ^ m
Divided, q = e / m and r = e % m, with m >= 1, e >= 0. e - r = q m, a multiple of m that grows with q; hence either
    q1 = q2 and e1 - r1 = e2 - r2,    or  q1 < q2 and e1 - r1 + m <= e2 - r2,    or the other way round

The map may stand in a guard alone: `(i & j) == 0` beside a[i] and a[i + j] says that a[i + j] is a[i ^ j].
`tests/poly/dependences/test_index_maps.py` compares both lists with all small integers.

Limits: each map is related to itself only, one after the other; nothing is known of `e & m` beside `e & (m - 1)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from warpsmith.poly.isl.polynomial import Polynomial, atom
from warpsmith.poly.isl.space import Map, same_beside
from warpsmith.poly.isl.vocabulary import AtomVocabulary, Divided, Masked

__all__ = ["DIVIDED", "MASKED", "Law", "MapValue", "map_values", "shared_values"]


class Law(Struct, frozen=True):
    """What holds of two values of one map: `fact` speaks of the numbers `names`, those of the first value with a 1
    behind the name, those of the second with a 2."""

    names: tuple[str, ...]
    fact: str

    def relation(self, length: int) -> Map:
        """Return {[d, first numbers] -> [d, second numbers] : fact} for `length` subscripts d, equal on both sides."""
        return same_beside(length, self.names, self.fact)


MASKED: Final = Law(
    ("e", "m", "y"),
    "m1 = m2 and ((e1 = e2 and y1 = y2) or (e2 = e1 + m1 - 2 y1 and e1 = e2 + m2 - 2 y2) or "
    "(e1 != e2 and e1 - 2 y1 != e2 - 2 y2 and e2 != e1 + m1 - 2 y1 and e1 != e2 + m2 - 2 y2))",
)
DIVIDED: Final = Law(
    ("e", "m", "q", "r"),
    "m1 = m2 and ((q1 = q2 and e1 - r1 = e2 - r2) or (q1 < q2 and e1 - r1 + m1 <= e2 - r2) or "
    "(q2 < q1 and e2 - r2 + m2 <= e1 - r1))",
)


class MapValue(Struct, frozen=True):
    """One value of a map, the atom `name`: the map is its law and its invariant operand; `numbers` are what the law
    names."""

    name: str
    law: Law
    operand: Polynomial
    numbers: tuple[Polynomial, ...]


def map_values(vocabulary: AtomVocabulary, names: Iterable[str]) -> tuple[MapValue, ...]:
    """Return the values of maps that atoms stand for, or are defined by; each once."""
    found = (_value(vocabulary, name) for name in sorted(vocabulary.images(names)))
    return tuple({value.name: value for value in found}.values())


def _value(vocabulary: AtomVocabulary, name: str) -> MapValue:
    meaning = vocabulary[name].meaning
    match meaning:
        case Masked(value=value, mask=mask):
            return MapValue(name, MASKED, mask, (value, mask, atom(name)))
        case Divided(value=value, divisor=divisor, quotient=quotient, remainder=remainder):
            return MapValue(quotient, DIVIDED, divisor, (value, divisor, atom(quotient), atom(remainder)))
        case _:
            raise ValueError(f"{vocabulary[name].text} is no value of a map")


def shared_values(first: Iterable[MapValue], second: Iterable[MapValue]) -> Iterator[tuple[MapValue, MapValue]]:
    """Yield the pairs of values that one map gives: of one law, with one operand."""
    others = tuple(second)
    for one in first:
        yield from ((one, other) for other in others if (one.law, one.operand) == (other.law, other.operand))
