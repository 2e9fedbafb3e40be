"""A diagram as boxes and edges with their places."""

from __future__ import annotations

from warpsmith.analysis.resources.diagrams import Diagram, DiagramEdge, DiagramNode
from warpsmith.report.pictures.diagram import drawn_diagram

BLOCK = DiagramNode("a", "line 3", ("x = 1;", "y" * 50), "block", "block", "warps part")
VALUE = DiagramNode("b", "slt", ("line 3",), "value", "divergent")
BARE = DiagramNode("c", "", (), "block", "together")
EDGES = (DiagramEdge("a", "b", "yes"), DiagramEdge("b", "c", kind="predicate"))


def test_boxes_have_their_lines_and_grow_with_them() -> None:
    drawn = drawn_diagram(Diagram("control flow", (BLOCK, VALUE, BARE), EDGES), "k")
    block, value, bare = drawn.nodes
    assert drawn.words == "control flow of k: 3 nodes, 2 edges"
    # a block's title is small, a value's lines are
    assert block.lines == (("small", "line 3"), ("", "x = 1;"), ("", "y" * 37 + "…"), ("word", "warps part"))
    assert value.lines == (("", "slt"), ("small", "line 3")) and bare.lines == (("small", "·"),)
    assert block.wide > value.wide > bare.wide and block.high > value.high > bare.high
    assert (block.state, value.state, block.round, value.round) == ("warps", "divergent", 4, 10)
    assert block.x + block.wide <= drawn.wide and max(node.y + node.high for node in drawn.nodes) <= drawn.high


def test_edges_lead_from_box_to_box() -> None:
    drawn = drawn_diagram(Diagram("predicates", (BLOCK, VALUE, BARE), EDGES), "k")
    first, second = drawn.edges
    assert (first.kind, first.mark, first.label) == ("flow", "plain", "yes") and second.mark == "hot"
    assert first.path.startswith("M") and " C" in first.path
    x, y = map(float, first.path[1:].split(" C")[0].split())
    block = drawn.nodes[0]
    assert block.x <= x <= block.x + block.wide and abs(y - (block.y + block.high)) < 2
