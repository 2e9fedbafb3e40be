"""Blocks that only lead to a trap, and the tests before them, which part nobody."""

from __future__ import annotations

from tests.analysis.affine.test_guards import BODY, graph
from warpsmith.analysis.affine.failures import find_failing, is_test_of_failure
from warpsmith.analysis.affine.guards import Guards
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import BasicBlock, Exit, Function


def with_trap(*traps: str, **ways: str) -> tuple[Graph, dict[str, BasicBlock]]:
    """Return a graph in which some blocks end in a trap."""
    return with_end(traps, ways, fails=True)


def with_end(traps: tuple[str, ...], ways: dict[str, str], *, fails: bool) -> tuple[Graph, dict[str, BasicBlock]]:
    """Return a graph in which some blocks end the thread, or the launch."""
    _, made = graph(**ways)
    made |= {name: BasicBlock(name, (), BODY, Exit(fails=fails)) for name in traps}
    return Graph.of(Function("f", True, (), (), tuple(made.values()))), made


def test_what_leads_to_a_trap_alone_fails() -> None:
    g, blocks = with_trap("trap", a="said rest", said="trap", trap="", rest="")
    failing = find_failing(g, blocks)
    assert failing == {"said", "trap"}
    assert is_test_of_failure(g, failing, "a")
    assert not is_test_of_failure(g, failing, "said")


def test_who_may_go_on_does_not_fail() -> None:
    g, blocks = with_trap("trap", a="b rest", b="trap rest", trap="", rest="")
    assert find_failing(g, blocks) == {"trap"}
    assert not is_test_of_failure(g, frozenset({"trap"}), "a")
    g, blocks = with_end(("out",), {"a": "out rest", "out": "", "rest": ""}, fails=False)
    assert find_failing(g, blocks) == frozenset()


def test_where_both_ways_fail_there_is_no_test() -> None:
    g, blocks = with_trap("one", "two", a="b rest", b="one two", one="", two="", rest="")
    failing = find_failing(g, blocks)
    assert failing == {"b", "one", "two"}
    assert not is_test_of_failure(g, failing, "b") and is_test_of_failure(g, failing, "a")


def test_nobody_is_missing_behind_an_assertion() -> None:
    ways = {"a": "gone rest", "gone": "", "rest": "c last", "c": "last", "last": ""}
    g, blocks = with_trap("gone", **ways)
    assert not any(Guards(g, blocks, ["a"]).diverged.values())
    g, blocks = with_end(("gone",), ways, fails=False)
    assert Guards(g, blocks, ["a"]).diverged["last"]
