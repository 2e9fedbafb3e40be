"""Levels: ways that leave a loop lead nowhere in it, and the others meet."""

from __future__ import annotations

from tests.targets.mask.test_levels import _graph
from warpsmith.targets.il.writing.regions import make_level, reached
from warpsmith.targets.mask.levels import END, BranchWay


def test_a_loop_is_a_part_of_the_function() -> None:
    level = make_level(_graph(), None)
    assert set(level.after["head"]) == {"out", "other"}
    assert level.joins["head"] == END
    assert reached(level.after, "head", END) == {"head", "out", "other"}


def test_ways_that_leave_a_loop_lead_nowhere() -> None:
    graph = _graph()
    level = make_level(graph, graph.cycles[0])
    assert level.leaves(BranchWay("head", "out")) and not level.leaves(BranchWay("head", "body"))
    assert level.after["head"] == ("body",) and level.after["body"] == (END,)
    assert level.joins == {"head": "body", "body": END}
