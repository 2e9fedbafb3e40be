"""How much of the copies passes while kernels run: the longer of both counts, not the sum.

    kernels   |-- k1 --|-- k2 --|-- k3 --|
    to device |  C  |  D  |                    C and D begin before k1, and k2 waits for them: what is longer
    to host            |  E  |                 than k1 is not hidden

Each direction has one stream, so that copies of one direction pass one behind the other; the two go on at once. Time is
counted in that of kernels: while they wait for a copy it stands still.

Limits: kernels and copies take as long beside each other as alone; host code beside a copy is not counted.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

__all__ = ["Move", "hidden_seconds"]


class Move(Struct, frozen=True):
    """A copy of so many `seconds` that begins when kernels have run for `start` and must be done when they have for
    `end`."""

    to_device: bool
    seconds: float
    start: float
    end: float


def hidden_seconds(moves: Iterable[Move]) -> float:
    """Return the seconds of copies, in the order in which they begin, that pass while kernels run."""
    hidden = 0.0
    free = {True: 0.0, False: 0.0}
    for move in moves:
        begin = max(move.start, free[move.to_device])
        passed = min(move.seconds, max(0.0, move.end - begin))
        hidden += passed
        free[move.to_device] = begin + passed
    return hidden
