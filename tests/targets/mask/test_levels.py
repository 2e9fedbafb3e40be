"""Levels: loops are parts, and ways from a part meet."""

from __future__ import annotations

from warpsmith.ssa.builder import Builder
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import Branch, Function, Jump, Param, Return
from warpsmith.ssa.types import I1
from warpsmith.targets.mask.levels import END, level_of, reached


def _graph() -> Graph:
    """Return a loop with a break: start → head → (out | body → (head | out)), out → END."""
    b = Builder("start")
    test = b.emit("param", (), I1, Param("n"))
    b.end(Jump("head"))
    b.start("head")
    b.end(Branch(test, "body", "out"))
    b.start("body")
    b.end(Branch(test, "head", "other"))
    b.start("other")
    b.end(Return())
    b.start("out")
    b.end(Return())
    return Graph.of(Function("k", True, (), (), b.finish()))


def test_a_loop_is_a_part_of_the_function() -> None:
    level = level_of(_graph(), None)
    assert set(level.loops) == {"head"}
    assert set(level.after["head"]) == {"out", "other"}
    assert level.joins["head"] == END
    assert reached(level, ["head"], END) == {"head", "out", "other"}


def test_ways_of_a_loop_begin_it_again_or_leave_it() -> None:
    graph = _graph()
    level = level_of(graph, graph.cycles[0])
    assert set(level.exits) == {"out", "other"}
    assert [level.kind_of(one) for one in ("body", "head", "out", END)] == ["part", "again", "exit", "exit"]
    assert level.joins["head"] == END
    assert level.part_of("head") == level.part_of("out") == END
