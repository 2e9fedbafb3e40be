"""What runs of a kernel show that look for races."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from warpsmith.analysis.uniformity.facts import RaceFact
from warpsmith.analysis.uniformity.simulated import Escaped

__all__ = ["SeenInRuns"]


class SeenInRuns(Struct, frozen=True):
    """What runs of a kernel show: races, accesses that leave their arrays; `why` that is not all."""

    races: Sequence[RaceFact] = ()
    escapes: Sequence[Escaped] = ()
    why: str = ""
