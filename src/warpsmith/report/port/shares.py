"""Which part of a program's work each loop does, and what tells it.

    counts of a run, or sizes that were given    estimated seconds of each loop's own body, as the program is today
    neither                                      own operations, from trip counts, depth and calls (ranking.py)

Figures are estimates, and the text that goes with them says from what.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.loops.search.effort import effort_of
from warpsmith.offload.gain.shares import HostTimes
from warpsmith.report.model import LoopEntry
from warpsmith.report.port.ranking import weigh
from warpsmith.tree.nodes import Function
from warpsmith.tree.walk import loops

__all__ = ["TEXT", "LoopShare", "basis_of", "loop_shares"]

TEXT: Final = "trip counts and depth"
"""What shares are estimated from where no run was counted, and no sizes were given."""


class LoopShare(Struct, frozen=True):
    """The part of the work that a loop's own body does, between 0 and 1, and in how many loops it stands."""

    share: float
    depth: int
    entry: LoopEntry


def loop_shares(
    functions: Sequence[Function], entries: Sequence[LoopEntry], times: HostTimes | None = None
) -> Sequence[LoopShare]:
    """Return the share of every listed loop; `times`: of the program as it is, where they are known."""
    # a function of a header stands in every file that includes it
    once = list({function.symbol.key: function for function in functions}.values())
    shares = _by_text(once) if times is None else {place: own / times.total for place, own in times.own.items()}
    depths = {loop.header: len(around) for function in once for loop, around in loops(function.body)}
    return [
        LoopShare(min(1.0, shares.get(entry.span, 0.0)), depths[entry.span], entry)
        for entry in entries
        if entry.span in depths
    ]


def _by_text(functions: Sequence[Function]) -> Mapping[Span, float]:
    return dict(_weights(functions))


def _weights(functions: Sequence[Function]) -> Iterator[tuple[Span, float]]:
    weights = weigh([effort_of(function) for function in functions])
    for function in functions:
        for number, (loop, _) in enumerate(loops(function.body)):
            yield loop.header, weights.own[function.symbol.key, number] / weights.total


def basis_of(times: HostTimes | None) -> str:
    """Return what shares are estimated from, in words."""
    if times is None:
        return TEXT
    told = "the counts of a run" if times.known == "counts" else "the sizes that were given"
    return f"{told}; OpenMP loops on {times.threads} threads" if times.threads > 1 else told
