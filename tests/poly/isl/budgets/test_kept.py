"""Answers that are kept: the same, and at the same price, as if they were worked out."""

from __future__ import annotations

import islpy as isl
import pytest

from warpsmith.poly.isl.budgets.budget import OutOfBudgetError, budget
from warpsmith.poly.isl.budgets.kept import kept

ROWS = "[n, m] -> { [i, j] : 0 <= i < n and i <= 3j < m + i }"


def test_an_answer_is_worked_out_once_and_paid_for_each_time() -> None:
    asked: list[bool] = []

    @kept
    def extreme(values: isl.Set, *, greatest: bool) -> isl.Set:
        asked.append(greatest)
        return values.lexmax() if greatest else values.lexmin()

    left: list[int] = []
    for _ in range(3):
        with budget(1 << 20):
            found = extreme(isl.Set(ROWS), greatest=True)
            left.append(isl.DEFAULT_CONTEXT.get_max_operations())
    assert asked == [True] and found.is_equal(isl.Set(ROWS).lexmax())
    # isl counts what it allocates, which differs by a few where it has parts at hand
    assert max(left) < 1 << 20 and max(left) - min(left) < 100
    assert not extreme(isl.Set(ROWS), greatest=False).is_equal(found) and asked == [True, False]
    extreme(isl.Set(ROWS.replace("3j", "2j")), greatest=False)
    assert asked == [True, False, False]


WRAPPED = (
    "[a, b, c, d, e, f] -> { [o] : exists (x, y, z : b <= 2147483647 and a >= -2147483648 and d <= 2147483647 and "
    "c >= -2147483648 and f <= 2147483647 and e >= -2147483648 and -1025 + a + o <= 64x <= -2 + a + o and "
    "-66 + 3a + 3o - 192x <= 64y <= -3 + 3a + 3o - 192x and -2 + 3a - d + 3o - 192x <= 64y <= -2 + 3a - c + 3o - 192x "
    "and -68 + 5a + 5o - 320x <= 64z <= -5 + 5a + 5o - 320x and -4 + 5a - f + 5o - 320x <= 64z <= -4 + 5a - e + 5o - "
    "320x and -16511 + 20671a - 64c - 4096e + 20671o - 1323008x - 4096y <= 262144z <= -16448 + 20671a - 64c - 4096e + "
    "20671o - 1323008x - 4096y) }"
)


def test_fewer_steps_are_taken_on_a_large_set() -> None:
    asked: list[bool] = []

    @kept
    def extreme(values: isl.Set, *, greatest: bool) -> isl.PwMultiAff:
        asked.append(greatest)
        return values.lexmin_pw_multi_aff()

    for _ in range(3):
        with budget(2_000_000):
            with pytest.raises(OutOfBudgetError, match=r"too complicated \([0-9,]{4,7} steps\)"):
                extreme(isl.Set(WRAPPED), greatest=False)
            # the rest of the budget is left for others
            extreme(isl.Set(ROWS), greatest=False)
    assert asked == [False, False], "what was too much was tried once"
    with pytest.raises(OutOfBudgetError), budget(100):
        extreme(isl.Set(WRAPPED), greatest=False)


def test_what_was_too_much_is_too_much_again_also_where_it_is_kept() -> None:
    asked: list[bool] = []

    @kept
    def extreme(values: isl.Set, *, greatest: bool) -> isl.Set:
        asked.append(greatest)
        return values.lexmax() if greatest else values.lexmin()

    rows = isl.Set(ROWS)

    def fails(operations: int) -> bool:
        try:
            with budget(operations):
                extreme(rows, greatest=True)
        except OutOfBudgetError:
            return True
        return False

    tried = range(100, 9000, 100)
    before = [fails(operations) for operations in tried]
    worked = len(asked)
    assert before.count(True) > 4 and before.count(False) > 4 and before == sorted(before, reverse=True)
    again = [fails(operations) for operations in tried]
    assert abs(again.count(True) - before.count(True)) <= 1 and again == sorted(again, reverse=True)
    assert worked <= before.count(True) + 1 and len(asked) == worked, "what is kept was found each time"
    with pytest.raises(isl.Error):
        extreme(isl.Set("{ [i] }"), greatest=True)
    assert isl.DEFAULT_CONTEXT.get_max_operations() == 0, "there was no budget, and there is none"
