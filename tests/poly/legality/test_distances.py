"""Distances between iterations that touch one element, as isl sees them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.poly.analysis import program_of
from warpsmith.base.verdict import Reason
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.legality.distances import DistanceQuestion, find_other_distance
from warpsmith.tree.nodes import Assign, For, Index
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.walk import loops, walk

HEAD = (
    "void f(int n, int m, double B[restrict n][m], double A[restrict n][m], double *restrict y, double *restrict z)\n"
)
ROWS = "for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++)"


def ask(first: str, second: str, read: Mapping[str, tuple[int, ...]], nests: str = ROWS) -> Reason | None:
    """Ask whether what the second nest stores is read by the first one at these distances."""
    program = program_of(f"{HEAD}{{\n    {nests} {first}\n    {nests} {second}\n}}\n")
    _, function = next(iter(program.functions()))
    one, other = (loop for loop, around in loops(function.body) if isinstance(loop, For) and not around)
    stored = next(part for part in walk(other) if isinstance(part, Assign))
    nodes = {id(n): read[show_expression(n)] for n in walk(one) if isinstance(n, Index) and show_expression(n) in read}
    return find_other_distance(
        DistanceQuestion(Origin.of(program, function), (one, other), (), stored.target, nodes, PolyOptions())
    )


def test_what_is_stored_at_the_distance_of_each_reference() -> None:
    read = {"A[i - 1][j]": (-1, 0), "A[i][j + 1]": (0, 1)}
    assert ask("B[i][j] = A[i - 1][j] + A[i][j + 1];", "A[i][j] = B[i][j];", read) is None
    flat = {"y[(i - 1) * m + j]": (-1, 0)}
    assert ask("B[i][j] = y[(i - 1) * m + j];", "y[i * m + j] = B[i][j];", flat) is None


@pytest.mark.parametrize(
    ("first", "second", "read", "why"),
    [
        ("B[i][j] = A[i - 1][j];", "A[i][j] = 1;", {"A[i - 1][j]": (1, 0)}, "-1 along i, 0 along j, not only of 1"),
        ("B[i][j] = A[i - 1][j];", "A[i][j] = 1;", {"A[i - 1][j]": (0, -1)}, "-1 along i, 0 along j"),
        ("B[i][j] = A[1][j];", "A[i][j] = 1;", {"A[1][j]": (0, 0)}, "along i"),
        ("B[i][j] = A[i][j] + A[i][1];", "A[i][j] = 1;", {"A[i][j]": (0, 0)}, "read elsewhere"),
    ],
)
def test_other_distances_are_told(first: str, second: str, read: dict[str, tuple[int, ...]], why: str) -> None:
    reason = ask(first, second, read)
    assert reason is not None and why in reason.text and reason.rule == "STP001"


def test_rows_that_run_into_each_other() -> None:
    reason = ask("B[i][0] = y[i * 8 + j + 1];", "y[i * 8 + j] = B[i][0];", {"y[i * 8 + j + 1]": (0, 1)},
                 "for (int i = 0; i < n; i++) for (int j = 0; j < 8; j++)")  # fmt: skip
    assert reason is not None and "1 along i, -7 along j" in reason.text


def test_a_second_store_is_told() -> None:
    twice = "for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++) { A[i][j] = B[i][j]; A[i][0] = 1; }"
    program = program_of(f"{HEAD}{{\n    {ROWS} B[i][j] = A[i - 1][j];\n    {twice}\n}}\n")
    _, function = next(iter(program.functions()))
    one, other = (loop for loop, around in loops(function.body) if isinstance(loop, For) and not around)
    stored = next(part for part in walk(other) if isinstance(part, Assign))
    nodes = {id(n): (-1, 0) for n in walk(one) if isinstance(n, Index) and show_expression(n) == "A[i - 1][j]"}
    question = DistanceQuestion(Origin.of(program, function), (one, other), (), stored.target, nodes, PolyOptions())
    reason = find_other_distance(question)
    assert reason is not None and "written elsewhere" in reason.text
