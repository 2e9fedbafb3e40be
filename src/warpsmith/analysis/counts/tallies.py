"""What is counted, for each block of threads that is looked at: sums that can be taken so many times.

visits      code block → warps that came                 lanes   code block → lanes that did
requests    access → requests, lanes, sectors, passes, lines of 128 bytes

The lines of a loop that is gone through at once are those of the iterations that are looked at: they are not exact.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct, field

from warpsmith.analysis.counts.columns import Column
from warpsmith.ssa.nodes import Instruction

__all__ = ["LANES", "LINES", "PASSES", "REQUESTS", "SECTORS", "Tallies"]

REQUESTS, LANES, SECTORS, PASSES, LINES = range(5)
"""Rows of the counts of an access."""


class Tallies(Struct):
    """Counts, a number for each block of threads."""

    blocks: int
    visits: dict[str, Column] = field(default_factory=dict)
    lanes: dict[str, Column] = field(default_factory=dict)
    requests: dict[Instruction, Column] = field(default_factory=dict)

    def visit(self, block: str, warps: Column, lanes: Column) -> None:
        """Count the warps and lanes that come to a block of code."""
        self.visits[block] = self.visits.get(block, 0) + warps
        self.lanes[block] = self.lanes.get(block, 0) + lanes

    def request(self, access: Instruction, counts: Column) -> None:
        """Count requests: rows REQUESTS to LINES."""
        self.requests[access] = self.requests.get(access, 0) + counts

    def take(self, other: Tallies, times: int) -> None:
        """Add what another counted, so many times."""
        for block, warps in other.visits.items():
            self.visit(block, warps * times, other.lanes[block] * times)
        for access, counts in other.requests.items():
            self.request(access, counts * times)

    def added(self, weights: Column) -> Tallies:
        """Return the sums over all blocks, each taken as often as it weighs."""
        one = Tallies(1)
        for block, warps in self.visits.items():
            one.visit(block, np.array([warps @ weights]), np.array([self.lanes[block] @ weights]))
        for access, counts in self.requests.items():
            one.request(access, (counts @ weights)[:, None])
        return one
