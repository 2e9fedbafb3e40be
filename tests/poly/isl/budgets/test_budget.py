"""Work budgets: wherever one ends, the question ends with an answer or with OutOfBudgetError, never otherwise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import islpy as isl
import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import load, loop
from warpsmith.base.verdict import Unknown
from warpsmith.poly import analyze as analysis
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.budgets.budget import (
    OutOfBudgetError,
    budget,
    charge,
    measure_apart,
    part_of_budget,
    shared_effort,
    side_budget,
    without_budget,
)
from warpsmith.poly.isl.space import deltas, find_undecided, pieces, point, whole_number
from warpsmith.poly.regions.sections import covered_sections

TRIANGLE = isl.Set("[n, m] -> { [i, j] : 0 <= 2i < n and i <= 3j < m + i }")
STEPS = isl.Map("[n] -> { [i, j] -> [x, y] : 0 <= i < n and x = i + 3 and 0 <= j < i and y = 2j }")
QUESTIONS: dict[str, Callable[[], object]] = {
    "pieces": lambda: pieces(TRIANGLE, greatest=True),
    "undecided": lambda: find_undecided(TRIANGLE, greatest=False),
    "point": lambda: point(TRIANGLE),
    "deltas": lambda: deltas(STEPS, 2),
}


@pytest.mark.slow
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


def test_only_what_was_spent_or_has_no_end_is_too_much_work() -> None:
    """An error that is a mistake of ours stays one, with steps left or without a budget that others share."""
    plane, line = isl.Set("{ [i, j] : 0 <= i < j < 9 }"), isl.Set("{ [i] }")
    infinite = "infinitely far away"

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with shared_effort() as effort:
        for bound in (budget, side_budget):
            with pytest.raises(isl.Error, match="spaces don't match"), bound(1 << 20):
                plane.union(line)
            with pytest.raises(isl.Error, match="syntax error"), bound(1 << 20):
                isl.Set("{ [i : }")
            with pytest.raises(OutOfBudgetError, match=infinite), bound(1 << 20):
                line.lexmax()
            with pytest.raises(OutOfBudgetError, match="interrupted"), bound(1 << 20):
                plane.foreach_basic_set(stop)
        assert effort.given_up == 0
        # isl calls a limit that is reached while it reads a syntax error
        with pytest.raises(OutOfBudgetError, match=r"\(9 steps\)"), budget(9):
            isl.Set("{ [i, j] : 0 <= i < j < 9 }")
        assert effort.given_up == 1
    with budget(1 << 20):
        with pytest.raises(isl.Error), part_of_budget():
            plane.union(line)
        assert plane.is_equal(plane), "what was not spent may go on"


def test_a_loop_that_isl_has_no_answer_for_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    program = program_of("void f(int n, double *a) { for (int i = 1; i < n; i++) a[i] = a[i - 1]; }")
    monkeypatch.setattr(analysis, "judge", lambda _: isl.Set("{ [i] }").lexmax())
    ((loop,),) = (f.loops for f in analyze(program, PolyOptions()).functions)
    assert isinstance(loop.verdict, Unknown) and "infinitely far away" in loop.reasons[0].text
    monkeypatch.setattr(analysis, "judge", lambda _: isl.Set("{ [i] }").union(isl.Set("{ [i, j] }")))
    with pytest.raises(isl.Error, match="spaces don't match"):
        analyze(program, PolyOptions())


def test_work_that_is_charged_counts_as_work_that_is_done() -> None:
    def work() -> bool:
        return bool(isl.Set("{ [i, j] : 0 <= i < j < 9 }").is_empty())

    with budget(10_000):
        answer, steps = measure_apart(work)
        assert not answer and 20 < steps < 5000
        # to look how many steps are left takes some, too
        left = isl.DEFAULT_CONTEXT.get_max_operations()
        assert left > 10_000 - 50, "it is measured, not charged"
        charge(steps)
        assert isl.DEFAULT_CONTEXT.get_max_operations() in range(left - steps - 50, left - steps + 1)
    with pytest.raises(OutOfBudgetError, match="10,000 steps"), budget(10_000):
        charge(10_000)
    with pytest.raises(OutOfBudgetError, match=r"\(30 steps\)"), budget(30):
        measure_apart(work)
    # without a budget there is nothing to charge
    charge(10**6)
    assert measure_apart(work)[1] in range(steps - 50, steps + 50) and isl.DEFAULT_CONTEXT.get_max_operations() == 0
    with budget(30):
        with without_budget():
            assert not work()
        assert isl.DEFAULT_CONTEXT.get_max_operations() in range(10, 31)
