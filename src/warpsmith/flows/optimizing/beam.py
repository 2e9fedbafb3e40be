"""Beam search: of all states that a step leads to, the cheapest few are gone on from.

    level 0   first
    level 1   all that one step makes of it          ──► the `width` cheapest
    level 2   all that one step makes of those       ──► the `width` cheapest
      …       `depth` levels, or until nothing is new

Invariant: each state is reached once; what is yielded depends on costs and order alone. With a width no level exceeds,
all states within `depth` steps are yielded.
Source: Lowerre, "The Harpy Speech Recognition System" (1976).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

__all__ = ["beam_search"]

T = TypeVar("T", bound=Hashable)


def beam_search(
    first: T, neighbors: Callable[[T], Iterable[T]], cost: Callable[[T], float], width: int, depth: int
) -> Iterator[T]:
    """Yield `first`, then the states that stay in the beam, level by level, the cheapest of each first; of equals the
    one that was found first."""
    seen, beam = {first}, [first]
    yield first
    for _ in range(depth):
        fresh: list[T] = []
        for state in beam:
            for other in neighbors(state):
                if other not in seen:
                    seen.add(other)
                    fresh.append(other)
        beam = sorted(fresh, key=cost)[:width]
        yield from beam
