"""Where a program spends its time before a port, as far as the counts of a run or sizes that were given tell.

    main ── estimated as it is written, with its OpenMP threads ──► the seconds of each loop's own body, and of all

Without counts and sizes nothing is said: how often loops run is then a guess.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.offload.gain.choose import gather_knowledge
from warpsmith.offload.gain.estimate import estimate_program
from warpsmith.offload.plan import OffloadOptions
from warpsmith.poly.analyze import Facts

__all__ = ["HostTimes", "time_loops"]


class HostTimes(Struct, frozen=True):
    """`own`: seconds that one run spends in the body of each loop, inner loops left out, by the place of its header;
    `total` of the program; `threads` run its OpenMP loops, 1 where it has none; `known`: what tells it."""

    own: Mapping[Span, float]
    total: float
    threads: int
    known: Literal["counts", "sizes"]


def time_loops(facts: Facts, options: OffloadOptions) -> HostTimes | None:
    """Return the times of a program as it is written; None where nothing tells how often its loops run."""
    counted = options.gain is not None and bool(options.gain.counts)
    if not counted and not options.sizes:
        return None
    found = estimate_program(facts.program, gather_knowledge(facts, options))
    if not found.complete or not found.host:
        return None
    own: dict[Span, float] = {}
    for loop, time in found.loops.items():
        own[loop.header] = own.get(loop.header, 0.0) + time.own
    threads = max((time.threads for time in found.loops.values()), default=1.0)
    return HostTimes(own, found.host, int(threads), "counts" if counted else "sizes")
