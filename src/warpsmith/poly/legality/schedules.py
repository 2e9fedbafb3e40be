"""When a statement runs, as a function of its loops' counters: the language in which steps say what they reorder.

    for (i …) { S; for (j …) T; }        S: (i, 0)   T: (i, 1, j)         as written
                                         S: (0, i)   T: (1, i, j)         distributed
                                                     T: (1, j, i)         and interchanged
                                                     T: (1, j/32, i, j)   and j in strips of 32

A schedule is a vector of dimensions; of two statement instances the one with the lexicographically smaller schedule
runs first (shorter vectors are padded with zeros). A loop that counts down runs at -i. Instances with equal schedules
keep the order in which they run as written.
"""

from __future__ import annotations

from msgspec import Struct

from warpsmith.tree.types import Symbol

__all__ = ["Schedule", "ScheduleDimension", "at", "counter"]


class ScheduleDimension(Struct, frozen=True):
    """floor((sum of coefficient * variable + constant) / divisor); a variable is the counter of a loop around the
    statement, or an integer that does not change in the run that is reordered."""

    terms: tuple[tuple[Symbol, int], ...] = ()
    constant: int = 0
    divisor: int = 1


Schedule = tuple[ScheduleDimension, ...]


def counter(symbol: Symbol, factor: int = 1) -> ScheduleDimension:
    """Return the row `factor * symbol`."""
    return ScheduleDimension(((symbol, factor),))


def at(position: int) -> ScheduleDimension:
    """Return the row of a constant position."""
    return ScheduleDimension(constant=position)
