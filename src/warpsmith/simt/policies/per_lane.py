"""A program counter for each lane: lanes that stand at one place go on together, and no set of lanes waits for ever.

The set that stands first in the text goes on, so that those behind catch up; but a set that has waited for a number of
pieces goes first. So a lane that holds a lock is not kept waiting by those that spin for it (as hardware since Volta
promises it: CUDA C++ Programming Guide, Independent Thread Scheduling).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct, field

from warpsmith.simt.policies.policy import Graphs, LanePlace, bits, by_place
from warpsmith.simt.thread import Thread
from warpsmith.ssa.nodes import BasicBlock

__all__ = ["PATIENCE", "PerLanePolicy"]

PATIENCE: Final = 8
"""Pieces of others for which a set of lanes waits."""


class PerLanePolicy(Struct):
    """The sets of lanes of one warp; `last`: when each lane went on, in pieces."""

    graphs: Graphs
    most_waiting: int = 0
    now: int = 0
    last: dict[int, int] = field(default_factory=dict)

    def pick(self, threads: Sequence[Thread]) -> Sequence[Thread]:
        """Return the lanes of the place that is first in the text, or that has waited too long."""
        places = by_place(thread for thread in threads if thread.waiting is None)
        if not places:
            return []
        self.most_waiting = max(self.most_waiting, len(places) - 1)
        self.now += 1
        longest = min(places, key=lambda place: (self._went(places[place]), self._rank(place, places[place])))
        late = self.now - self._went(places[longest]) > PATIENCE
        chosen = longest if late else min(places, key=lambda place: self._rank(place, places[place]))
        for thread in places[chosen]:
            self.last[thread.lane.lane] = self.now
        return places[chosen]

    def parted(self, block: BasicBlock, depth: int, threads: Sequence[Thread]) -> None:
        """Nothing: each lane knows where it is."""

    def _went(self, threads: Sequence[Thread]) -> int:
        """Return when the lane that has waited longest went on."""
        return min(self.last.get(thread.lane.lane, 0) for thread in threads)

    def _rank(self, place: LanePlace, threads: Sequence[Thread]) -> tuple[tuple[int, ...], int]:
        frames = threads[0].frames
        ranks = [self.graphs[f.code.function.name].rank[f.block.name] for f in frames]
        return (*(n for f, rank in zip(frames, ranks, strict=True) for n in (rank, f.place)),), bits(threads)
