"""Races that one barrier would mend, or that one pattern makes, as groups: a cause is reported once.

s[t] += s[t + 16];  s[t] += s[t + 8];  …      a chain: each race shares an access with the next
a[t] = …; b[t] = …; | … a[t + 1] + b[t + 1]   two arrays, one barrier missing: the same two blocks of code
"""

from __future__ import annotations

from collections.abc import Sequence

from warpsmith.analysis.uniformity.facts import RaceFact

__all__ = ["find_causes"]


def find_causes(races: Sequence[RaceFact]) -> list[int]:
    """Return for each race the number of the first one with the same cause (union-find over what races share)."""
    first = list(range(len(races)))
    seen: dict[object, int] = {}
    for number, race in enumerate(races):
        for shared in _shared(race):
            other = _root(first, seen.setdefault((race.reach, shared), number))
            mine = _root(first, number)
            first[max(other, mine)] = min(other, mine)
    return [_root(first, number) for number in range(len(races))]


def _shared(race: RaceFact) -> list[object]:
    """Return what races of one cause have in common: an access, or the two blocks of code."""
    sides = (race.first.access, race.second.access)
    return [*(access.instruction for access in sides), frozenset(access.block for access in sides)]


def _root(first: list[int], number: int) -> int:
    while first[number] != number:
        number = first[number]
    return number
