"""What is written for a region: the loops over threads, their pragmas and the arrays of the team."""

from __future__ import annotations

from pathlib import Path

from tests.front.teams.as_text import as_loops, read_text
from tests.front.teams.constructs import READ, program
from warpsmith.tree.nodes import For, Pragma
from warpsmith.tree.walk import loops, walk


def test_a_region_without_barriers_is_two_loops_and_nothing_between(tmp_path: Path) -> None:
    _, found = read_text(program(READ["no barrier"]), tmp_path)
    (function,) = found.program.units[0].functions
    team, thread = (loop for loop, _ in loops(function.body))
    assert isinstance(team, For) and isinstance(thread, For)
    inside = [stmt for stmt in walk(team.body) if isinstance(stmt, For | Pragma)]
    assert [type(stmt) for stmt in inside] == [Pragma, For]
    pragmas = [n for n in walk(function) if isinstance(n, Pragma) and n.reading is not None]
    assert [p.directive.words for p in pragmas if p.directive is not None] == [
        ("target", "teams", "distribute"), ("parallel", "for"),
    ]  # fmt: skip
    assert {p.reading for p in pragmas} == {("full_teams(work)",)}


def test_new_names_are_nobodys(tmp_path: Path) -> None:
    body = READ["a thread's own variable on both sides"].replace("part", "mine_of")
    before, found = read_text(program(body), tmp_path)
    text = as_loops(before, found)
    assert "double mine_of[B];" in text
    assert "double mine_of_[8];" in text
