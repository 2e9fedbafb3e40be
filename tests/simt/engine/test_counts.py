"""The counters of a run, as data."""

from __future__ import annotations

from warpsmith.simt.counters import BlockCount
from warpsmith.simt.engine.counts import EngineCounts
from warpsmith.simt.tally import Totals
from warpsmith.ssa.nodes import BasicBlock, Jump, Return


def test_branches_are_blocks_that_were_visited_and_lead_on() -> None:
    there, never, end = (
        BasicBlock(name, (), (), to) for name, to in (("a", Jump("c")), ("b", Jump("c")), ("c", Return()))
    )
    count = BlockCount(2, 5, 1, 0)
    counts = EngineCounts({there: count, never: BlockCount(0, 0, 0, 0), end: count}, Totals(), ())
    assert [(b.name, c.visits, c.divergences, c.lanes) for b, c in counts.branches.items()] == [("a", 2, 1, 5)]
