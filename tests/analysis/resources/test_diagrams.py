"""Pictures of a kernel: blocks and how control goes, what conditions are made of, with and without the branches."""

from __future__ import annotations

from tests.analysis.test_kernel import ROW, TILE, told
from warpsmith.analysis.resources.diagrams import Diagram, control_flow, dependences, diagrams
from warpsmith.analysis.uniformity.facts import KernelFacts, LaunchShape

IF = """
  %c:i1 = slt %x %n
  branch %c yes no
yes:
  %v:i32 = add %n 1:i32
  jump skip
skip:
  jump end
no:
  jump end
end:
  %w:i32 = phi skip %v no %n
  %d:i1 = eq %w 3:i32
  branch %d last done
last:
  store [shared +0 align 4] %t %w
  jump done
done:"""


def facts(body: str = IF, shape: LaunchShape = ROW) -> KernelFacts:
    return told(body, shape)


def states(diagram: Diagram) -> dict[str, str]:
    return {node.key: node.state for node in diagram.nodes}


def test_a_kernel_without_branches_has_no_pictures() -> None:
    assert diagrams(facts("")) == ()
    assert [one.name for one in diagrams(facts())] == ["control flow", "data", "predicates"]


def test_blocks_that_only_lead_on_are_left_out() -> None:
    flow = control_flow(facts())
    assert list(states(flow)) == ["start", "yes", "end", "last", "done"]
    assert {(edge.start, edge.end): edge.label for edge in flow.edges} == {
        ("start", "yes"): "yes", ("start", "end"): "no", ("yes", "end"): "",
        ("end", "last"): "yes", ("end", "done"): "no", ("last", "done"): "",
    }  # fmt: skip


def test_where_lanes_part_where_they_are_apart_and_where_they_meet() -> None:
    flow = control_flow(facts())
    assert states(flow) == {
        "start": "divergent", "yes": "apart", "end": "divergent", "last": "apart", "done": "together"
    }  # fmt: skip
    notes = {node.key: node.note for node in flow.nodes}
    assert notes == {
        "start": "lanes part", "yes": "", "end": "lanes meet again; lanes part", "last": "", "done": "lanes meet again"
    }  # fmt: skip


def test_warps_that_part_are_marked_as_such() -> None:
    flow = control_flow(facts(IF.replace("slt %x %n", "slt %y %n").replace("eq %w", "eq %n"), TILE))
    assert states(flow)["start"] == "block"
    assert next(node.note for node in flow.nodes if node.key == "start") == "warps part"
    plain = control_flow(facts(IF.replace("slt %x %n", "slt %b %n")))
    assert set(states(plain).values()) == {"together"}


def test_two_ways_to_one_block_are_one_edge_and_a_switch_has_one_for_each_case() -> None:
    body = "  switch %x 0 a 1 b 2 a b\na:\n  store [shared +0 align 4] %t %x\n  jump b\nb:"
    flow = control_flow(facts(body))
    labels = {(edge.start, edge.end): edge.label for edge in flow.edges}
    assert labels == {("start", "a"): "0, 2", ("start", "b"): "1, else", ("a", "b"): ""}


def test_a_circle_of_empty_blocks_ends() -> None:
    body = "  %c:i1 = slt %x %n\n  branch %c a done\na:\n  jump b\nb:\n  jump a\ndone:"
    assert "start" in states(control_flow(facts(body)))


def titles(diagram: Diagram) -> dict[str, tuple[str, str]]:
    return {node.title: (node.shape, node.state) for node in diagram.nodes}


def test_what_conditions_are_made_of() -> None:
    found = titles(dependences(facts(), predicates=True))
    assert found["%tid.x"] == ("seed", "divergent")
    assert found["n"] == ("seed", "together")
    assert found["slt"] == ("predicate", "divergent")
    assert found["φ w"] == ("join", "divergent")
    assert found["eq"] == ("predicate", "divergent")
    # what no condition needs is not there
    assert "smulwide" not in found and "%ctaid.x" not in found


def test_a_branch_leads_to_the_values_in_which_its_ways_meet() -> None:
    diagram = dependences(facts(), predicates=True)
    names = {node.key: node.title for node in diagram.nodes}
    gates = [(names[edge.start], names[edge.end]) for edge in diagram.edges if edge.kind == "predicate"]
    assert gates == [("slt", "φ w")]
    flows = {(names[edge.start], names[edge.end]) for edge in diagram.edges if edge.kind == "data"}
    assert flows == {("%tid.x", "slt"), ("n", "slt"), ("n", "add"), ("add", "φ w"), ("n", "φ w"), ("φ w", "eq")}


def test_by_data_alone_what_only_branches_part_is_together() -> None:
    diagram = dependences(facts(), predicates=False)
    assert diagram.name == "data"
    assert {edge.kind for edge in diagram.edges} == {"data"}
    found = titles(diagram)
    assert (found["slt"][1], found["φ w"][1], found["eq"][1]) == ("divergent", "together", "together")
    assert all(not node.note for node in diagram.nodes if node.state == "together")


def test_copies_in_another_width_are_one_node() -> None:
    body = IF.replace("%c:i1 = slt %x %n", "%l:i64 = sext %x\n  %m:i64 = sext %n\n  %c:i1 = slt %l %m")
    found = titles(dependences(facts(body), predicates=True))
    assert "sext" not in found and found["%tid.x"][0] == "seed"


def test_a_large_kernel_is_cut() -> None:
    steps = "".join(
        f"\n  %c{k}:i1 = slt %x {k}:i32\n  branch %c{k} a{k} b{k}\na{k}:\n"
        f"  store [shared +0 align 4] %t %x\n  jump b{k}\nb{k}:"
        for k in range(40)
    )
    flow = control_flow(facts(steps))
    assert (len(flow.nodes), flow.left_out) == (60, 21)
    keys = {node.key for node in flow.nodes}
    assert all(edge.start in keys and edge.end in keys for edge in flow.edges)
