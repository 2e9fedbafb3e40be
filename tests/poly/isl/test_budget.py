"""Work budgets: wherever one ends, the question ends with an answer or with OutOfBudgetError, never otherwise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import islpy as isl
import pytest

from tests.poly.programs import load, loop
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.space import (
    OutOfBudgetError,
    budget,
    deltas,
    find_undecided,
    pieces,
    point,
    shared_effort,
    whole_number,
)
from warpsmith.poly.regions.sections import covered_sections

TRIANGLE = isl.Set("[n, m] -> { [i, j] : 0 <= 2i < n and i <= 3j < m + i }")
STEPS = isl.Map("[n] -> { [i, j] -> [x, y] : 0 <= i < n and x = i + 3 and 0 <= j < i and y = 2j }")
QUESTIONS: dict[str, Callable[[], object]] = {
    "pieces": lambda: pieces(TRIANGLE, greatest=True),
    "undecided": lambda: find_undecided(TRIANGLE, greatest=False),
    "point": lambda: point(TRIANGLE),
    "deltas": lambda: deltas(STEPS, 2),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_may_end_at_any_step(name: str) -> None:
    stops = 0
    for operations in range(1, 100_000):
        try:
            with budget(operations):
                QUESTIONS[name]()
        except OutOfBudgetError:
            stops += 1
        else:
            break
    assert 5 < stops < 30_000


def test_a_number_is_read_or_the_budget_is_spent() -> None:
    value = isl.Val("12345678901234567890123")
    with budget(1000):
        assert whole_number(value) == 12345678901234567890123
    with pytest.raises(ValueError, match="7/2"):
        whole_number(isl.Val("7/2"))
    with pytest.raises(OutOfBudgetError), budget(1):
        whole_number(value)


def test_sections_of_tiles_within_any_budget(tmp_path: Path) -> None:
    text = """void f(int n, double a[n][n]) { for (int t = 0; t < n; t += 8) for (int i = 0; i < n; i++)
        for (int j = t; j < (t + 8 < n ? t + 8 : n); j++) a[i][j] = 1; }"""
    program = load(text, tmp_path)
    ((_, function),) = program.functions()
    nest = (loop(program, "f/t"),)
    known = set()
    for operations in range(100, 200_000, 997):
        options = PolyOptions(max_operations=operations)
        found = covered_sections(program, function, nest, nest, options)
        known.add(found.given_up)
    assert known == {True, False}


def test_a_spent_budget_halves_those_after_it_where_effort_is_shared() -> None:
    whole = isl.DEFAULT_CONTEXT.get_max_operations

    def fail(question: Callable[[], object], operations: int) -> None:
        with pytest.raises(OutOfBudgetError), budget(operations):
            question()

    with shared_effort() as effort:
        with budget(1 << 20):
            assert whole() == 1 << 20
        # an answer that is not finite is no work
        fail(isl.Set("{ [i] }").lexmax, 1 << 20)
        assert effort.given_up == 0
        fail(QUESTIONS["pieces"], 5)
        fail(QUESTIONS["pieces"], 5)
        with budget(1 << 20):
            assert whole() == 1 << 18 and effort.given_up == 2
        with shared_effort(), budget(1 << 20):
            assert whole() == 1 << 20
        with shared_effort(effort) as same, budget(1 << 20):
            assert whole() == 1 << 18 and same is effort
    with budget(1 << 20):
        assert whole() == 1 << 20
