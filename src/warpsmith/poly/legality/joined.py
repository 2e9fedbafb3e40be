"""A union of sets as few pieces with few conditions each, which may overlap.

    a cross:  [1, n-2] x [0, n-1]  or  [0, n-1] x [1, n-2]        not a rectangle and two pentagons that share nothing

Invariant: the pieces together are the union. Limits: each set grows by others as long as it is convex and has no more
constraints; what would need several at once is not found.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from warpsmith.poly.isl.space import Set

__all__ = ["join_sets"]

# each pair takes isl an operation or two, again and again
_MOST_SETS = 12


def join_sets(sets: Sequence[Set]) -> list[Set]:
    """Return pieces of the union of some sets over parameters, each of them convex."""
    whole = reduce(lambda a, b: a.union(b), sets).coalesce()
    if len(sets) > _MOST_SETS or any(one.n_basic_set() > 1 for one in sets):
        return [Set.from_basic_set(piece) for piece in whole.get_basic_sets()]
    if whole.n_basic_set() == 1 and _count(whole) <= max(map(_count, sets)):
        return [whole]
    grown: list[Set] = []
    for one in sets:
        piece = _grow(one, sets)
        if not any(piece.is_subset(other) for other in grown):
            grown = [*(other for other in grown if not other.is_subset(piece)), piece]
    return grown


def _grow(piece: Set, sets: Sequence[Set]) -> Set:
    """Return a set with others added, as long as it is convex and no more complicated."""
    while True:
        larger = (piece.union(other).coalesce() for other in sets if not other.is_subset(piece))
        found = next((one for one in larger if one.n_basic_set() == 1 and _count(one) <= _count(piece)), None)
        if found is None:
            return piece
        piece = found


def _count(piece: Set) -> int:
    return sum(len(basic.get_constraints()) for basic in piece.get_basic_sets())
