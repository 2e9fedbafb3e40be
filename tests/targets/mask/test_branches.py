"""Switches become branches, and phis follow."""

from __future__ import annotations

from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import Branch, Function, Jump, Param, Return, Switch
from warpsmith.ssa.types import I32
from warpsmith.targets.mask.branches import without_switches


def test_a_switch_is_a_chain_of_branches() -> None:
    b = Builder("start")
    n = b.emit("param", (), I32, Param("n"))
    b.write("x", constant(I32, 1))
    b.end(Switch(n, ((1, "one"), (2, "join")), "join"))
    b.start("one")
    b.write("x", constant(I32, 2))
    b.end(Jump("join"))
    b.start("join")
    b.emit("add", (b.read("x", I32), n), I32)
    b.end(Return())
    made = without_switches(Function("k", True, (), (), b.finish()))
    ends = {block.name: block.terminator for block in made.blocks}
    first, second = ends["start"], ends["start.case1"]
    assert isinstance(first, Branch) and (first.then, first.other) == ("one", "start.case1")
    assert isinstance(second, Jump | Branch)
    (phi,) = made.blocks[-1].phis
    assert {name for name, _ in phi.incoming} == {"start.case1", "one"}
