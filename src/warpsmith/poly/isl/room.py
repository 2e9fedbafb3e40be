"""Whether a guard leaves room for loops to run: parameters that meet it while every loop has many iterations.

    for (i < n*n) a[i] = 0;       guard n*n <= n       n >= 1000, n*n <= n: no room
    for (i < n) a[i] = a[i+k];    guard k >= n         n = 1000, k = 1000

Many is a thousand, in a nest of d loops the d-th root of 10^8, so that the products of sizes stay in reach of an int;
or, where that is less, one part in d + 1 of the iterations that the program itself allows: the ranges of d loops may
lie side by side in one extent. isl takes a product of parameters
for a parameter of its own. So their factors are given numbers, one after another, until every product is linear in what
is left, and then isl decides.

Invariant: a sample is a solution in integers, products included. Limits: the search for factors is bounded, so that no
sample does not mean that there is none: a guard without one is not used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

from msgspec import Struct, field

from warpsmith.poly.isl.formula import Formula, at_least, both, equal
from warpsmith.poly.isl.polynomial import Polynomial, atom, constant
from warpsmith.poly.isl.space import Set, ends, farthest, make_set, pairs_apart, parameters_of, point
from warpsmith.poly.isl.vocabulary import AtomVocabulary

__all__ = ["CounterNest", "long_runs", "sample"]

_ITERATIONS = 1000
_IN_NEST = 10**8
_SIZE_LIMIT = 2**30
_PRODUCT_LIMIT = 2**36
_TRIES = 200


class CounterNest(Struct, frozen=True):
    """The counters of the loops around a counter's loop, outermost first, and how far one iteration moves it."""

    outer: tuple[str, ...]
    step: int


def long_runs(
    vocabulary: AtomVocabulary,
    domain: Formula,
    plain: Formula,
    counters: Sequence[str],
    *,
    nests: Mapping[str, CounterNest],
    asked: Sequence[str] | None = None,
) -> Set:
    """Return the parameters for which each of the `asked` counters (all, if not given) takes many values in `domain`
    while those around it stand still. `plain`: the domain without the guards, which says how many there can be."""
    room = make_set(vocabulary, counters, domain).params()
    for name in counters if asked is None else asked:
        nest = nests.get(name, CounterNest((), 1))
        around = [c for c in nest.outer if c in counters]
        dims = [*around, name, *(c for c in counters if c != name and c not in around)]
        distance = (_iterations(len(counters)) - 1) * abs(nest.step)
        most = farthest(make_set(vocabulary, dims, plain), len(around))
        distance = distance if most is None else min(distance, (most + 1) // (len(counters) + 1))
        room = room.intersect(pairs_apart(make_set(vocabulary, dims, domain), len(around), distance))
    return room


def _iterations(depth: int) -> int:
    return min(_ITERATIONS, int(_IN_NEST ** (1 / max(1, depth))))


def sample(vocabulary: AtomVocabulary, room: Set) -> dict[str, int] | None:
    """Return values of the parameters, by name, in a set over parameters; None where none is found."""
    return _Search(vocabulary).find(room, {})


class _Search(Struct):
    vocabulary: AtomVocabulary
    tried: int = field(default=0)

    def find(self, room: Set, fixed: Mapping[str, int]) -> dict[str, int] | None:
        self.tried += 1
        if self.tried > _TRIES or room.is_empty():
            return None
        products = [n for n in parameters_of(room) if self.vocabulary[n].parts]
        name = self.unknown_factor(products, fixed)
        if name is None:
            return self.solve(room, products, fixed)
        for value in self.candidates(room, name):
            known = {**fixed, name: value}
            found = self.find(room.intersect(self.where(equal(atom(name), constant(value)))), known)
            if found is not None:
                return found
        return None

    def unknown_factor(self, products: Sequence[str], fixed: Mapping[str, int]) -> str | None:
        """Return the factor without a number that occurs most often in products that are not linear yet."""
        counts: dict[str, int] = {}
        for product in products:
            left = [part for part in self.vocabulary[product].parts if part not in fixed]
            for part in left if len(left) > 1 else ():
                counts[part] = counts.get(part, 0) + 1
        return max(counts, key=lambda name: counts[name], default=None)

    def solve(self, room: Set, products: Sequence[str], fixed: Mapping[str, int]) -> dict[str, int] | None:
        """Return a solution where at most one factor of every product has no number."""
        parts: list[Formula] = []
        for product in products:
            factors = self.vocabulary[product].parts
            scale = reduce(lambda a, b: a * b, (fixed[p] for p in factors if p in fixed), 1)
            rest = tuple(p for p in factors if p not in fixed)
            parts.append(equal(atom(product), Polynomial({rest: scale})))
        for name in parameters_of(room):
            limit = _PRODUCT_LIMIT if name in products else _SIZE_LIMIT
            parts += [at_least(atom(name), constant(-limit)), at_least(constant(limit), atom(name))]
        room = room.intersect(self.where(both(parts)))
        for name in [n for n in parameters_of(room) if n not in products and n not in fixed]:
            near = ends(room.intersect(self.large(name)), name)[0]
            if near is not None:
                room = room.intersect(self.where(equal(atom(name), constant(near))))
        answer = point(room)
        return None if answer is None else {**answer[0], **fixed}

    def candidates(self, room: Set, name: str) -> Iterator[int]:
        """Yield a few values of a parameter: sizes first, then the ends of what the set allows."""
        values = [ends(room.intersect(self.large(name)), name)[0], *ends(room, name), 1, 2, 3, 64]
        yield from dict.fromkeys(v for v in values if v is not None and abs(v) <= _SIZE_LIMIT)

    def large(self, name: str) -> Set:
        return self.where(at_least(atom(name), constant(_ITERATIONS)))

    def where(self, formula: Formula) -> Set:
        return make_set(self.vocabulary, (), formula).params()
