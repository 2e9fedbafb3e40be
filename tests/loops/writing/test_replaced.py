"""Loads in front, stores behind: the text that comes of elements in variables."""

from __future__ import annotations

from tests.loops.test_replaceable import HEAD, always
from tests.poly.analysis import program_of
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.replaceable import Replacement, find_replaceable, root_of_element
from warpsmith.loops.writing.replaced import with_variables
from warpsmith.poly.effects.origin import Origin
from warpsmith.tree.printing.printer import print_stmt
from warpsmith.tree.types import Scalar, Symbol


def written(body: str) -> list[str]:
    program = program_of(f"{HEAD}{{\n{body}\n}}\n")
    _, function = next(iter(program.functions()))
    statements = function.body.statements
    found = find_replaceable(Origin.of(program, function), statements, always, typed=True).found
    supply = Fresh.of(program)

    def variable(one: Replacement, type: Scalar) -> Symbol:
        array = root_of_element(one.place)
        return supply.variable(f"{array.name}_value", type, array)

    return [" ".join(print_stmt(stmt).split()) for stmt in with_variables(statements, found, variable)]


def test_nothing_to_do_changes_nothing() -> None:
    assert written("q[1] = 0;") == ["q[1] = 0;"]


def test_runs_that_overlap() -> None:
    assert written("q[1] = 0; q[2] += 1; for (int k = 0; k < m; k++) { q[1] += k; q[2] += k; } q[1] /= 2;") == [
        "double q_value = 0;",
        "double q_value2 = q[2];",
        "q_value2 += 1;",
        "for (int k = 0; k < m; k++) { q_value += k; q_value2 += k; }",
        "q[2] = q_value2;",
        "q_value /= 2;",
        "q[1] = q_value;",
    ]


def test_elements_with_one_condition_stand_below_one_test() -> None:
    assert written("for (int k = 0; k < m; k++) { q[1] = k; q[2] += k; }") == [
        "if (0 < m) { double q_value = 0; double q_value2 = q[2];"
        " for (int k = 0; k < m; k++) { q_value = k; q_value2 += k; } q[1] = q_value; q[2] = q_value2; }"
    ]


def test_conditions_of_loops_inside() -> None:
    assert written("for (int j = 0; j < n; j++) { for (int k = 0; k < m; k++) q[1] += k; q[j + 2] = 0; }") == [
        "if (0 < n) { double q_value = 0 < m ? q[1] : 0;"
        " for (int j = 0; j < n; j++) { for (int k = 0; k < m; k++) q_value += k; q[j + 2] = 0; }"
        " if (0 < m) q[1] = q_value; }"
    ]


def test_branches_and_bodies_get_braces() -> None:
    (text,) = written("if (n > 1) for (int k = 0; k < 5; k++) q[1] += k; else q[2] = 0;")
    assert text == (
        "if (n > 1) { double q_value = q[1]; for (int k = 0; k < 5; k++) q_value += k; q[1] = q_value; } else q[2] = 0;"
    )
