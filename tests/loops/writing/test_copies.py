"""Where the copies of a variable live: what a loop's body declares, moved before it, and how much room is needed."""

from __future__ import annotations

import pytest

from tests.loops.steps.test_docstrings import NoWords
from tests.poly.analysis import program_of
from warpsmith.base.verdict import Reason
from warpsmith.loops.place import LoopContext
from warpsmith.loops.writing.copies import find_declaration, fits_in_array, move_declaration, room_of
from warpsmith.loops.writing.expansion import Shape, shape_of
from warpsmith.tree.printing.patch import unit_text
from warpsmith.tree.printing.printer import nothing, print_expr
from warpsmith.tree.types import DOUBLE

NEST = """void f(int n, int m, double *a)
{
    double w;
    for (int k = 2; k < m; k++)
        for (int i = k; i < n; i++) {
            w = a[i];
            const double v = a[i] + k, u = v;
            a[i] = v * u + w;
        }
}
"""


def test_a_declaration_becomes_an_assignment_behind_one_before_the_loop() -> None:
    program = program_of(NEST)
    place = LoopContext.of(program, "f/k/i")
    declared = find_declaration(place, "v")
    assert declared is not None
    moved = move_declaration(program, place, declared)
    text = unit_text(program.units[0], moved.units[0], NoWords())
    inside = text.split("w = a[i];")[1]
    assert "double v;" in text.split("for (int i")[0]
    wanted = "v = a[i] + k; const double u = v; a[i] = v * u + w; } }"
    assert " ".join(inside.split()).startswith(wanted)
    assert find_declaration(LoopContext.of(moved, "f/k/i"), "v") is None


@pytest.mark.parametrize("name", ["w", "i", "k", "none"])
def test_what_the_body_does_not_declare_with_a_value_is_not_found(name: str) -> None:
    assert find_declaration(LoopContext.of(program_of(NEST), "f/k/i"), name) is None


@pytest.mark.parametrize(("above", "room"), [(0, "(long long)n - (long long)k"), (1, "(long long)n - 2")])
def test_room_above_a_loop_is_that_of_its_largest_run(above: int, room: str) -> None:
    place = LoopContext.of(program_of(NEST), "f/k/i")
    shape = shape_of(place, "w", 1)
    assert isinstance(shape, Shape)
    found = room_of(place, shape, above, checked=False)
    assert not isinstance(found, Reason)
    assert print_expr(found.bytes(DOUBLE, place.loop.span), nothing).count(room) >= 1
    assert not fits_in_array(found)


def test_there_are_no_more_loops_than_there_are() -> None:
    place = LoopContext.of(program_of(NEST), "f/k/i")
    shape = shape_of(place, "w", 1)
    assert isinstance(shape, Shape)
    assert isinstance(room_of(place, shape, 2, checked=False), Reason)
