"""Reversal: what is refused and why, and where a test is needed that the loop runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.steps.refusals import Misfits, one, wrongly_answered
from tests.loops.steps.twins import Steps, stepped
from warpsmith.base.verdict import Refuted
from warpsmith.loops.steps.order.reverse import Reverse
from warpsmith.tree.nodes import If
from warpsmith.tree.walk import walk

LOOP = "for (int i = 0; i < n; i++) x[i] += 1;"
MISFITS: Misfits = {
    "an unsigned reversal": (
        "in a signed type",
        ("for (unsigned i = 0; i < 9; i++) x[i] += 1;", lambda f: Reverse(f"{f}/i")),
    ),
    "steps of two": ("count by one", (LOOP.replace("i++", "i += 2"), lambda f: Reverse(f"{f}/i"))),
    "a value below the least one": (
        "might overflow",
        ("for (int i = -2147483647 - 1; i < 0; i++) x[i & 7] = 1;", lambda f: Reverse(f"{f}/i")),
    ),
}


def test_what_does_not_fit_says_why(tmp_path: Path) -> None:
    assert wrongly_answered(MISFITS, tmp_path) == {}


@pytest.mark.parametrize("body", ["x[i + 1] = x[i];", "x[i] = x[i + 1];", "x[0] = i;"])
def test_a_dependence_that_would_turn_around_is_shown(body: str, tmp_path: Path) -> None:
    verdict = one(f"for (int i = 0; i < 50; i++) {body}", tmp_path).check(Reverse("F/i"))
    assert isinstance(verdict, Refuted), verdict
    assert verdict.reasons[0].rule == "STP001" and verdict.reasons[0].dependence is not None


def test_no_test_is_needed_where_the_loops_around_show_that_it_runs(tmp_path: Path) -> None:
    body = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] += 1;"
    after = one(body, tmp_path).proved(Reverse("F/i/j"))
    assert not [part for part in walk(after.function.body) if isinstance(part, If)]
    alone = one(LOOP, tmp_path).proved(Reverse("F/i"))
    assert [part for part in walk(alone.function.body) if isinstance(part, If)]


SAME: tuple[tuple[str, Steps], ...] = (
    ("for (int i = 1; i <= n; i++) x[i] = x[i] * 2 + i;", lambda f: (Reverse(f"{f}/i"),)),
    ("for (int i = 9; i > k; i--) y[i] += i;", lambda f: (Reverse(f"{f}/i"), Reverse(f"{f}/i"))),
    ("for (int i = 0; i < n; i++) for (int j = i; j < m; j++) a[i][j] += i - j;", lambda f: (Reverse(f"{f}/i/j"),)),
)


def test_reversed_loops_do_the_same(tmp_path: Path) -> None:
    assert stepped(SAME, tmp_path) == []
