"""Which branches may keep threads away from a block, and of which only one way leads there."""

from __future__ import annotations

import pytest

from warpsmith.analysis.affine.guards import Guard, Guards, bits, find_diverged
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import BasicBlock, Branch, Constant, Function, Instruction, Jump, Return, Terminator
from warpsmith.ssa.types import I1

BODY = (Instruction("fence", (), ()),)


def graph(**ways: str) -> tuple[Graph, dict[str, BasicBlock]]:
    """Return the graph of blocks that do something, each with the names of its successors."""
    made = {name: BasicBlock(name, (), BODY, _end(after.split())) for name, after in ways.items()}
    return Graph.of(Function("f", True, (), (), tuple(made.values()))), made


def _end(after: list[str]) -> Terminator:
    if not after:
        return Return()
    return Jump(after[0]) if len(after) == 1 else Branch(Constant(I1, 1), after[0], after[1])


def names(graph: Graph, number: int) -> set[str]:
    return {graph.order[rank] for rank in bits(number)}


IF_ELSE = graph(a="then other", then="join", other="join", join="")
NESTED = graph(a="b join", b="c inner", c="inner", inner="join", join="")
LOOP = graph(a="head", head="body done", body="cont head", cont="head", done="")


def test_a_branch_parts_threads_up_to_where_they_meet() -> None:
    (g, _) = IF_ELSE
    found = find_diverged(g, ["a"])
    assert {name: names(g, number) for name, number in found.items()} == {
        "a": set(), "then": {"a"}, "other": {"a"}, "join": set()
    }  # fmt: skip
    assert not any(find_diverged(g, []).values())


def test_branches_inside_of_others_add_up() -> None:
    (g, _) = NESTED
    found = find_diverged(g, ["a", "b"])
    assert {name: names(g, found[name]) for name in g.order} == {
        "a": set(), "b": {"a"}, "c": {"a", "b"}, "inner": {"a"}, "join": set()
    }  # fmt: skip


def test_threads_that_never_come_back_are_missing_from_then_on() -> None:
    (g, _) = graph(a="gone rest", gone="", rest="c last", c="last", last="")
    found = find_diverged(g, ["a"])
    assert {name for name in g.order if found[name]} == {"gone", "rest", "c", "last"}


def test_an_end_that_all_reach_by_leaving_is_no_place_where_they_miss_each_other() -> None:
    # an empty block that ends the thread: those who go there straight are not met again
    made = {
        "a": BasicBlock("a", (), BODY, _end(["work", "end"])),
        "work": BasicBlock("work", (), BODY, _end(["end"])),
        "end": BasicBlock("end", (), (), Return()),
    }
    g = Graph.of(Function("f", True, (), (), tuple(made.values())))
    assert g.leaving == {"end"}
    assert {name: names(g, number) for name, number in find_diverged(g, ["a"]).items()} == {
        "a": set(), "work": {"a"}, "end": set()
    }  # fmt: skip


def test_the_way_that_leads_to_a_block() -> None:
    guards = Guards(*IF_ELSE, ["a"])
    g = guards.graph
    assert [names(g, guards.before(name)) for name in ("then", "other", "join")] == [{"a"}, {"a"}, set()]
    rank = g.rank["a"]
    assert (guards.guard(rank, "then"), guards.guard(rank, "other")) == (Guard("a", True), Guard("a", False))


def test_a_way_is_handed_down_to_all_that_it_dominates() -> None:
    guards = Guards(*NESTED, ["a", "b"])
    g = guards.graph
    assert {name: names(g, guards.before(name)) for name in g.order} == {
        "a": set(), "b": {"a"}, "c": {"a", "b"}, "inner": {"a"}, "join": set()
    }  # fmt: skip


def test_a_branch_of_a_loop_says_nothing_behind_it() -> None:
    guards = Guards(*LOOP, ["head"])
    g = guards.graph
    assert names(g, guards.before("body")) == {"head"}
    assert names(g, guards.before("cont")) == {"head", "body"}
    # one way of the head leads to `done`, but in another iteration for each thread
    assert names(g, guards.before("done")) == set()


def test_a_loop_with_two_entries_says_nothing() -> None:
    guards = Guards(*graph(a="l r", l="r done", r="l done", done=""), ["a"])
    assert guards.before("l") == guards.before("r") == 0


def test_a_branch_both_ways_of_which_lead_to_one_place_tells_nothing() -> None:
    guards = Guards(*graph(a="b b", b=""), ["a"])
    assert guards.before("b") == 0


@pytest.mark.parametrize(("number", "expected"), [(0, []), (1, [0]), (0b101000, [3, 5])])
def test_bits(number: int, expected: list[int]) -> None:
    assert list(bits(number)) == expected
