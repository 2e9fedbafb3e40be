"""Decisions of steps about loops, found again in a program that has changed since."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from msgspec.structs import replace as changed

from tests.offload.hand import load
from warpsmith.loops.place import LoopContext
from warpsmith.loops.steps.order.distribute import Distribute
from warpsmith.loops.steps.order.unroll import Unroll
from warpsmith.offload.decisions import Decided, decide, decided_nests, find_made_from, find_undecided
from warpsmith.tree.nodes import Function, Loop
from warpsmith.tree.program import Decision, Program
from warpsmith.tree.walk import loop_names

TEXT = """
void f(int n, double (*restrict a)[8], double *restrict b)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < 8; j++)
            a[i][j] = 1;
        b[i] = 2;
    }
    for (int k = 0; k < n; k++)
        b[k] += 3;
}
void g(int n, double *b) { for (int i = 0; i < n; i++) b[i] = 1; }
"""
Kind = Literal["device", "host", "threads"]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return load(TEXT, tmp_path)


def function(program: Program, name: str = "f") -> Function:
    return next(f for _, f in program.functions() if f.symbol.name == name)


def loop(program: Program, address: str) -> Loop:
    names = loop_names(function(program, address.split("/")[0]))
    return next(node for node, name in names.items() if name == address)


def decided(program: Program, *pairs: tuple[str, Kind]) -> Program:
    for address, kind in pairs:
        place = LoopContext.of(program, address)
        program = decide(program, place, Decision(address, address.split("/")[0], kind, place.loop))
    return program


def stays(program: Program, address: str, *, only: bool = False) -> str:
    found = Decided.of(program, function(program), only=only).stays(loop(program, address))
    return "" if found is None else found.text


def test_a_later_decision_about_a_loop_takes_the_place_of_an_earlier_one(program: Program) -> None:
    made = decided(program, ("f/i", "host"), ("f/k", "host"), ("f/i", "threads"))
    assert [(d.loop, d.kind) for d in made.decisions] == [("f/k", "host"), ("f/i", "threads")]


@pytest.mark.parametrize(("kind", "device", "threads"), [("device", 1, 0), ("threads", 1, 1), ("host", 0, 0)])
def test_what_a_decision_makes_of_its_loop(kind: Kind, device: int, threads: int, program: Program) -> None:
    made = decided(program, ("f/i", kind))
    known, mine = Decided.of(made, function(made)), loop(made, "f/i")
    assert (known.of_loop(mine) is not None, known.threads(mine) is not None) == (bool(device), bool(threads))
    assert known.of_loop(loop(made, "f/k")) is None
    # of another function nothing is decided
    assert Decided.of(made, function(made, "g")).by_loop == {}


@pytest.mark.parametrize(
    ("decisions", "address", "why"),
    [
        ((), "f/i", ""),
        ((("f/i", "host"),), "f/i", "kept on the host by a step"),
        ((("f/i", "host"),), "f/i/j", "kept on the host with f/i by a step"),
        ((("f/i", "device"),), "f/i", ""),
        ((("f/i/j", "device"),), "f/i", "a step made f/i/j the kernel"),
        ((("f/i", "host"), ("f/i/j", "device")), "f/i/j", ""),
        ((("f/i", "host"), ("f/i/j", "device")), "f/i", "kept on the host by a step"),
        ((("f/i/j", "host"),), "f/i", ""),
        ((("f/i", "host"),), "f/k", ""),
    ],
)
def test_why_a_loop_may_be_no_kernel(
    decisions: tuple[tuple[str, Kind], ...], address: str, why: str, program: Program
) -> None:
    assert stays(decided(program, *decisions), address) == why


def test_a_recipe_may_leave_all_others_on_the_host(program: Program) -> None:
    assert stays(program, "f/i", only=True) == "the recipe does not move it to the device"
    assert stays(decided(program, ("f/i", "device")), "f/i", only=True) == ""


def test_loops_that_stay_with_all_that_is_inside(program: Program) -> None:
    def kept(*pairs: tuple[str, Kind]) -> bool:
        made = decided(program, *pairs)
        return id(loop(made, "f/i")) in Decided.of(made, function(made)).find_kept()

    assert kept(("f/i", "host"))
    assert not kept(("f/i", "host"), ("f/i/j", "device"))
    assert not kept(("f/i", "device"))


def test_a_decision_follows_the_one_loop_that_was_made_from_its_own(program: Program) -> None:
    made = decided(program, ("f/i", "device"))
    again = Unroll("f/i/j", 2).apply(made)
    assert loop(again, "f/i") is not loop(made, "f/i")
    assert Decided.of(again, function(again)).of_loop(loop(again, "f/i")) is not None and not find_undecided(again)
    split = Distribute("f/i").apply(made)
    assert len(find_made_from(function(split), loop(made, "f/i"))) == 2
    assert [d.loop for d in find_undecided(split)] == ["f/i"] and Decided.of(split, function(split)).by_loop == {}


def test_a_loop_with_another_counter_or_header_is_another_loop(program: Program) -> None:
    mine = loop(program, "f/k")
    assert find_made_from(function(program), mine) == (mine,)
    assert find_made_from(function(program, "g"), mine) == ()
    gone = changed(program, decisions=(Decision("f/z", "f", "device", loop(program, "g/i")),))
    assert [d.loop for d in find_undecided(gone)] == ["f/z"]


def test_the_search_leaves_nests_with_decisions_alone(program: Program) -> None:
    assert decided_nests(decided(program, ("f/i/j", "device"))) == {loop(program, "f/i").span}
    assert decided_nests(decided(program, ("f/k", "host"))) == {loop(program, "f/k").span}
    assert decided_nests(program) == frozenset()
