"""Data directives before the search: they go where they may, in the functions that are asked for."""

from __future__ import annotations

from tests.loops.search.test_unthreading import prepared, steps
from tests.loops.steps.data.test_unmap import TWO
from tests.poly.mapped.programs import program
from warpsmith.loops.search.unmapping import unmap_functions
from warpsmith.tree.walk import loops


def test_one_step_serves_all_functions_of_a_program() -> None:
    found = unmap_functions(prepared(TWO), None)
    assert len(steps(found)) == 1 and steps(found)[0].startswith("unmap=")


def test_wrong_directives_and_loops_that_nobody_asked_for_stay() -> None:
    given = prepared(program("input is not copied", wrong=True))
    assert unmap_functions(given, None) is given
    given = prepared(TWO)
    assert unmap_functions(given, ()) is given
    (_, f) = (function for _, function in given.program.functions())
    assert len(steps(unmap_functions(given, [next(loop.span for loop, _ in loops(f.body))]))) == 1
