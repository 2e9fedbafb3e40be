"""What atomic operations make of a number in memory and of those that a lane brings, as bit patterns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from warpsmith.ssa.semantics.patterns import number_of, pattern_of, to_signed
from warpsmith.ssa.types import Type

__all__ = ["COMBINE"]


def _add(type: Type, old: int, more: tuple[int, ...]) -> int:
    return pattern_of(number_of(old, type) + number_of(more[0], type), type)


COMBINE: Final[Mapping[str, Callable[[Type, int, tuple[int, ...]], int]]] = {
    "add": lambda t, old, more: old + more[0],
    "smin": lambda t, old, more: min(to_signed(old, t), to_signed(more[0], t)),
    "smax": lambda t, old, more: max(to_signed(old, t), to_signed(more[0], t)),
    "umin": lambda t, old, more: min(old, more[0]),
    "umax": lambda t, old, more: max(old, more[0]),
    "and": lambda t, old, more: old & more[0],
    "or": lambda t, old, more: old | more[0],
    "xor": lambda t, old, more: old ^ more[0],
    "exchange": lambda t, old, more: more[0],
    "compare": lambda t, old, more: more[1] if old == more[0] else old,
    "inc": lambda t, old, more: 0 if old >= more[0] else old + 1,
    "dec": lambda t, old, more: more[0] if old == 0 or old > more[0] else old - 1,
    "fadd": _add,
}
