"""What may be known at a point of host code: a list of states, one for each way of the conditions that come again.

    if (many) n = 256; else n = rest;     [many: n 256], [not many: n not known]
    if (many) k<<<g, n>>>(…);             the first one only: n is 256

Trace partitioning (Mauborgne and Rival, ESOP 2005), with the conditions of conditions.py. A condition stands in a state
as a variable does, as `(CONDITION, key)`, with 1 where it holds and 0 where it does not.
Invariant: what the program may have at the point is in one of the states; no state: the point is not reached. There is
one state for each set of conditions; where they would be more than `_MOST`, all conditions are forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from warpsmith.front.clang.device.launches.numbers import UNKNOWN, join
from warpsmith.front.clang.device.launches.places import CONDITION, Values

__all__ = ["States", "collapse", "merge", "widen"]

States = list[Values]
_MOST: Final = 4


def merge(states: Iterable[Values]) -> States:
    """Return what is known where several ways meet; those of the same conditions become one."""
    groups: dict[frozenset[tuple[str, bool]], States] = {}
    for state in states:
        groups.setdefault(_conditions(state), []).append(state)
    if len(groups) > _MOST:
        return collapse(state for group in groups.values() for state in group)
    return [_join(group) for group in groups.values()]


def collapse(states: Iterable[Values]) -> States:
    """Return one state at most: what all of them know."""
    every = list(states)
    if not every:
        return []
    joined = _join(every)
    return [{place: values for place, values in joined.items() if place[0] != CONDITION or len(values) == 1}]


def widen(before: States, after: States) -> States:
    """Return what is still known where a loop changes something in every round; of one state each at most."""
    if not before or not after:
        return after
    old = before[0]
    return [{place: values if values == old.get(place) else UNKNOWN for place, values in after[0].items()
             if place[0] != CONDITION or values == old.get(place)}]  # fmt: skip


def _conditions(state: Values) -> frozenset[tuple[str, bool]]:
    return frozenset((way, 1 in values) for (number, way), values in state.items() if number == CONDITION)


def _join(states: States) -> Values:
    first, *others = states
    return {
        place: join(values, *(state[place] for state in others))
        for place, values in first.items()
        if all(place in state for state in others)
    }
