"""Collective operations of a block's threads at a barrier: votes, totals, prefixes (OpenCL C 3.0, 6.15.16).

add        1 2 3 4  →  10 10 10 10          scan_add    1 2 3 4  →  1 3 6 10         before_add  →  0 1 3 6
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import accumulate
from typing import Final

from warpsmith.ssa.semantics.patterns import number_of, pattern_of, to_signed
from warpsmith.ssa.types import Type

__all__ = ["collect_given"]

_SCAN, _BEFORE = "scan_", "before_"


def collect_given(how: str, type: Type, given: Mapping[int, int]) -> Mapping[int, int]:
    """Return what each thread gets, from what each has given as a `type`."""
    match how:
        case "and":
            return dict.fromkeys(given, int(all(given.values())))
        case "or":
            return dict.fromkeys(given, int(any(given.values())))
        case "count":
            return dict.fromkeys(given, sum(bool(bits) for bits in given.values()))
    name = how.removeprefix(_SCAN).removeprefix(_BEFORE)
    combine = _COMBINED[name]
    threads = sorted(given)
    prefixes = list(accumulate((given[t] for t in threads), lambda a, b: combine(a, b, type)))
    if how.startswith(_SCAN):
        return dict(zip(threads, prefixes, strict=True))
    if how.startswith(_BEFORE):
        return dict(zip(threads, [_least(name, type), *prefixes[:-1]], strict=True))
    return dict.fromkeys(given, prefixes[-1])


def _integers(function: Callable[[int, int], int], *, signs: bool) -> Callable[[int, int, Type], int]:
    def combine(a: int, b: int, type: Type) -> int:
        found = function(to_signed(a, type), to_signed(b, type)) if signs else function(a, b)
        return found & ((1 << type.bits) - 1)

    return combine


def _floats(function: Callable[[float, float], float]) -> Callable[[int, int, Type], int]:
    def combine(a: int, b: int, type: Type) -> int:
        return pattern_of(function(number_of(a, type), number_of(b, type)), type)

    return combine


_COMBINED: Final[Mapping[str, Callable[[int, int, Type], int]]] = {
    "add": _integers(lambda a, b: a + b, signs=False),
    "umin": _integers(min, signs=False),
    "umax": _integers(max, signs=False),
    "smin": _integers(min, signs=True),
    "smax": _integers(max, signs=True),
    "fadd": _floats(lambda a, b: a + b),
    "fmin": _floats(min),
    "fmax": _floats(max),
}


def _least(name: str, type: Type) -> int:
    """Return the number that changes nothing: what comes before the first."""
    low, high = 1 << (type.bits - 1), (1 << type.bits) - 1
    match name:
        case "umin":
            return high
        case "smin":
            return low - 1
        case "smax":
            return low
        case "fmin":
            return pattern_of(float("inf"), type)
        case "fmax":
            return pattern_of(float("-inf"), type)
        case _:
            return 0
