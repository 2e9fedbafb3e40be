"""The ranking of a survey's loops: those to port first, those left behind with their own work, those around both.

    for (step …)              around: next to no work of its own
        for (j …)             first: it can be ported, and takes what is inside along
            for (i …) a[i] = …
        for (k …) s = f(s)    behind: work of its own, not parallel as it is

Every loop is in at most one of them; those inside a loop that can be ported are in none. What a run has shown to gain
nothing, or not entered at all, is idle. An order for reading, not a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from warpsmith.report.survey.model import SurveyLoop

__all__ = ["Ranking", "ranking"]

_LITTLE: Final = 0.1
"""A loop with a smaller part of its work in its own body is there for the loops and calls inside."""


class Ranking(Struct, frozen=True):
    """`first` with the most work inside first, `behind` with the most work of their own first, `around` likewise;
    `idle`: of those that can be ported, the ones that a run has shown to be worth nothing."""

    first: tuple[SurveyLoop, ...]
    behind: tuple[SurveyLoop, ...]
    around: tuple[SurveyLoop, ...]
    idle: tuple[SurveyLoop, ...] = ()


def ranking(loops: Sequence[SurveyLoop]) -> Ranking:
    """Return the loops of a survey by what they mean for a port."""
    functions: dict[tuple[str, str], list[SurveyLoop]] = {}
    for loop in loops:
        functions.setdefault((loop.spot.file, loop.function), []).append(loop)
    first: list[SurveyLoop] = []
    rest: list[SurveyLoop] = []
    for group in functions.values():
        ported: list[SurveyLoop] = []
        # one that holds another begins before it
        for loop in sorted(group, key=lambda one: (_start(one), _reversed_end(one), one.depth)):
            if any(_holds(outer, loop) for outer in ported):
                continue
            if loop.portable:
                ported.append(loop)
            else:
                rest.append(loop)
        first += ported
    rest = [loop for loop in rest if loop.entries != 0]
    around = [loop for loop in rest if loop.own < _LITTLE * loop.share]
    behind = [loop for loop in rest if loop.own >= _LITTLE * loop.share]
    idle = tuple(loop for loop in first if loop.entries == 0 or (loop.gain_kept is not None and loop.worth <= 0))
    first = [loop for loop in first if loop not in idle]
    return Ranking(
        tuple(sorted(first, key=lambda one: (-one.worth, *_place(one)))),
        tuple(sorted(behind, key=lambda one: (-one.own, *_place(one)))),
        tuple(sorted(around, key=lambda one: (-one.share, *_place(one)))),
        idle,
    )


def _holds(outer: SurveyLoop, inner: SurveyLoop) -> bool:
    return _start(outer) <= _start(inner) and _reversed_end(outer) <= _reversed_end(inner)


def _start(loop: SurveyLoop) -> tuple[int, int]:
    return loop.spot.line, loop.spot.column


def _reversed_end(loop: SurveyLoop) -> tuple[int, int]:
    return -loop.spot.end_line, -loop.spot.end_column


def _place(loop: SurveyLoop) -> tuple[str, int, int]:
    return loop.spot.file, loop.spot.line, loop.spot.column
