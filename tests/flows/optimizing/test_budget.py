"""A budget ends when its seconds are over, not before."""

from __future__ import annotations

import pytest

from warpsmith.flows.optimizing.budget import Budget, BudgetEndedError


def test_a_budget_ends_when_its_seconds_are_over() -> None:
    now = 100.0
    budget = Budget(5.0, lambda: now)
    now = 104.9
    budget.check()
    now = 105.0
    with pytest.raises(BudgetEndedError):
        budget.check()
    with pytest.raises(BudgetEndedError):
        Budget(0.0, lambda: now).check()


def test_a_part_ends_before_the_whole() -> None:
    now = 0.0
    budget = Budget(10.0, lambda: now)
    now = 2.0
    with pytest.raises(BudgetEndedError), budget.part(0.5):
        now = 5.9
        budget.check()
        now = 6.0
        budget.check()
    budget.check()
    now = 10.0
    with pytest.raises(BudgetEndedError):
        budget.check()
    with pytest.raises(BudgetEndedError), budget.part(0.5):
        budget.check()
