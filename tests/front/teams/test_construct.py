"""Constructs taken apart: which they are, their parts, and how many threads they have for certain."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.teams.as_text import read_text
from tests.front.teams.constructs import READ, program
from warpsmith.front.teams.construct import ThreadRegion, find_constructs, take_apart
from warpsmith.tree.printing.printer import print_expr


@pytest.mark.parametrize(
    ("title", "regions", "sure"),
    [("no barrier", 1, False), ("two regions", 2, False), ("a number of threads that is asked for", 1, True)],
)
def test_parts_of_a_construct(tmp_path: Path, title: str, regions: int, *, sure: bool) -> None:
    before, _ = read_text(program(READ[title]), tmp_path)
    (function,) = before.units[0].functions
    ((pragma, body),) = find_constructs(function)
    found = take_apart(function, pragma, body, {})
    assert sum(isinstance(part, ThreadRegion) for part in found.parts) == regions
    assert (print_expr(found.teams), print_expr(found.threads), found.sure) == ("teams", "8", sure)


def test_constructs_that_ask_nothing_are_none(tmp_path: Path) -> None:
    text = """#pragma omp target teams num_teams(teams) thread_limit(B)
    {
#pragma omp parallel
        a[0] = 1;
    }"""
    before, found = read_text(program(text), tmp_path)
    assert not [*find_constructs(before.units[0].functions[0])]
    assert (found.read, found.left) == (0, ())
