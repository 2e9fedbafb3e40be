"""What was tried is written down once, in the order in which it was tried."""

from __future__ import annotations

from warpsmith.flows.optimizing.kept import CandidateOutcome
from warpsmith.flows.optimizing.record import SearchRecord, candidate_of
from warpsmith.loops.steps.order.fuse import Fuse
from warpsmith.offload.steps.map import Map


def test_candidates_stand_once_in_order() -> None:
    record = SearchRecord()
    mapped = candidate_of("f/i", (Fuse("f/i"),), (Map("f/i", ("x",), (64,)),), CandidateOutcome(1.0, "latency"), 2.5)
    refused = candidate_of("", (), (Fuse("f/j"),), CandidateOutcome(None, why="no loop behind it", refused=True))
    for question, candidate in (("a", mapped), ("b", refused), ("a", refused)):
        record.note(question, candidate)
    assert record.candidates == (mapped, refused) and list(record.questions()) == ["a", "b"]
    assert (mapped.after, mapped.steps) == (("fuse=f/i",), ("map=f/i,axes=x,block=64",))
    assert (mapped.seconds, mapped.bound, mapped.more, mapped.refused) == (1.0, "latency", 2.5, False)
    assert (refused.seconds, refused.why, refused.refused) == (None, "no loop behind it", True)
