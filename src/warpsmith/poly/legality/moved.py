"""Where references read that lie constant distances from one that stands for all of them.

    B[i][j] = A[i][j-2] + A[i][j] + A[i][j+1] + A[i-1][j]      A[u][v] at (i, j-2 … j+1), and at (i-1, j)

Invariant: the sets together are the values of the counters at which the one that stands for all is an element that is
read; with `between` also where, in some iteration, it lies between such elements along each counter: no nearer to the
ends of the array than they are, since its place is a sum of multiples of the counters.
Limits: domains whose quotients hang on no counter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product

from msgspec import Struct

from warpsmith.poly.isl.formula import And, Compare, Formula, Or, at_least, atoms_of, both
from warpsmith.poly.isl.polynomial import ZERO, Polynomial, atom, constant
from warpsmith.poly.isl.space import Set, make_set
from warpsmith.poly.regions.region import Statement
from warpsmith.poly.regions.state import State
from warpsmith.tree.nodes import For

__all__ = ["Box", "Distance", "cover", "find_moved"]

Box = tuple[tuple[int, int], ...]
"""The least and the greatest number along each dimension."""


class Distance(Struct, frozen=True):
    """How far an element lies from another along a counter: a number, and counters of loops inside with a factor."""

    number: int
    inner: tuple[tuple[For, int], ...] = ()


class _Move(Struct, frozen=True):
    """From the first to the last of these distances."""

    low: Distance
    high: int


Found = tuple[Statement, Mapping[For, Distance]]


def find_moved(state: State, read: Sequence[Found], kept: Collection[str], *, between: bool) -> list[Set] | None:
    """Return where references read, each with its distance; None where a set cannot be written. `kept`: the counters
    that the sets are of."""
    found: list[Set] = []
    for statement, moves in _merge(read) if between else ((s, _moves_of(m)) for s, m in read):
        made = _project(state, statement, kept, moves)
        if made is None:
            return None
        found.append(made)
    return found


def _moves_of(distances: Mapping[For, Distance]) -> dict[For, _Move]:
    return {loop: _Move(one, one.number) for loop, one in distances.items()}


def _merge(read: Sequence[Found]) -> Iterator[tuple[Statement, Mapping[For, _Move]]]:
    """Yield references taken together that are read in the same iterations and have all between them among them."""
    groups: list[tuple[Statement, tuple[For, ...], set[tuple[int, ...]]]] = []
    for statement, distances in read:
        if any(one.inner for one in distances.values()):
            yield statement, _moves_of(distances)
            continue
        loops, vector = tuple(distances), tuple(one.number for one in distances.values())
        group = next((one for one in groups if one[1] == loops and _is_alike(one[0], statement)), None)
        if group is None:
            groups.append((statement, loops, {vector}))
        else:
            group[2].add(vector)
    for statement, loops, vectors in groups:
        for box in cover(vectors):
            yield statement, {loop: _Move(Distance(low), high) for loop, (low, high) in zip(loops, box, strict=True)}


def _is_alike(one: Statement, other: Statement) -> bool:
    return one.counters == other.counters and one.domain == other.domain


def cover(vectors: Collection[tuple[int, ...]]) -> list[Box]:
    """Return few boxes that have all vectors, the corners of each among them."""
    boxes: set[Box] = set()
    for one, other in product(vectors, repeat=2):
        box = tuple((min(a, b), max(a, b)) for a, b in zip(one, other, strict=True))
        if all(corner in vectors for corner in product(*box)):
            boxes.add(box)
    left, found = set(vectors), list[Box]()
    while left:
        best = max(sorted(boxes), key=lambda box: sum(_has(box, vector) for vector in left))
        found.append(best)
        left = {vector for vector in left if not _has(best, vector)}
    return found


def _has(box: Box, vector: tuple[int, ...]) -> bool:
    return all(low <= number <= high for number, (low, high) in zip(vector, box, strict=True))


def _project(state: State, statement: Statement, kept: Collection[str], moves: Mapping[For, _Move]) -> Set | None:
    """Return where a statement runs, its counters moved, without those that are not kept: kept ones are parameters."""
    names = {id(loop): name for loop, name in zip(statement.loops, statement.counters, strict=True)}
    formula = both((statement.domain, state.ranges(atoms_of(statement.domain))))
    if not all(name in statement.counters or state.vocabulary.invariant(name) for name in atoms_of(formula)):
        return None
    gone = [name for name in statement.counters if name not in kept]
    ranges: list[Formula] = []
    for loop, move in moves.items():
        if any(id(inner) not in names for inner, _ in move.low.inner):
            return None
        place = atom(names[id(loop)]).shift(-move.low.number)
        for inner, factor in move.low.inner:
            place = place - atom(names[id(inner)]).scale(factor)
        if move.high > move.low.number:
            more = state.vocabulary.counter(loop.variable, ("moved", loop.variable), None)
            ranges += [at_least(atom(more), ZERO), at_least(constant(move.high - move.low.number), atom(more))]
            gone.append(more)
            place = place - atom(more)
        formula = _substitute(formula, names[id(loop)], place)
    formula = both((formula, *ranges, state.context))
    return make_set(state.vocabulary, gone, both((formula, state.ranges(atoms_of(formula) - {*kept, *gone})))).params()


def _substitute(formula: Formula, name: str, value: Polynomial) -> Formula:
    """Return a formula with a value in place of an atom."""
    match formula:
        case Compare(polynomial, equality):
            return Compare(polynomial.substitute(name, value), equality)
        case And(parts):
            return And(tuple(_substitute(part, name, value) for part in parts))
        case Or(parts):
            return Or(tuple(_substitute(part, name, value) for part in parts))
