"""Unrolling: every iteration once, also those that are left over."""

from __future__ import annotations

from pathlib import Path

from tests.loops.steps.refusals import Misfits, wrongly_answered
from tests.loops.steps.twins import Steps, stepped
from warpsmith.loops.steps.order.unroll import Unroll

LOOP = "for (int i = 0; i < n; i++) x[i] += 1;"
WRONG: Misfits = {
    "a factor of one": ("", (LOOP, lambda f: Unroll(f"{f}/i", 1))),
    "a negative factor": ("", (LOOP, lambda f: Unroll(f"{f}/i", -2))),
    "a huge factor": ("", (LOOP, lambda f: Unroll(f"{f}/i", 1000))),
}
MISFITS: Misfits = {
    "read after": (
        "is read after its loop",
        ("int i; for (i = 0; i < n; i++) x[i] += 1; y[0] = i;", lambda f: Unroll(f"{f}/i", 4)),
    ),
    "unknown trips": ("is not a number", (LOOP, lambda f: Unroll(f"{f}/i", 0))),
    "many trips": ("runs 100 times", (LOOP.replace("n;", "100;"), lambda f: Unroll(f"{f}/i", 0))),
    "counting down": (
        "does not count up",
        ("for (int i = n; i > 0; i--) x[i] += 1;", lambda f: Unroll(f"{f}/i", 2)),
    ),
    "sizeof the counter": (
        "cannot be rewritten",
        ("for (int i = 0; i < 4; i++) x[i] = sizeof(i);", lambda f: Unroll(f"{f}/i", 0)),
    ),
}


def test_wrong_values_are_told(tmp_path: Path) -> None:
    assert wrongly_answered(WRONG, tmp_path, "STP003") == {}


def test_what_does_not_fit_says_why(tmp_path: Path) -> None:
    assert wrongly_answered(MISFITS, tmp_path) == {}


SAME: tuple[tuple[str, Steps], ...] = (
    # what an iteration leaves in memory is what the next one finds
    ("for (int i = 0; i < n; i++) { double t = x[i]; x[i + 1] = t + i; }", lambda f: (Unroll(f"{f}/i", 4),)),
    ("for (int i = 0; i <= n; i++) x[i] = x[i] * 2 + i;", lambda f: (Unroll(f"{f}/i", 5),)),
    ("for (int i = 3; i < 8; i += 2) x[i] = x[i - 2] + i;", lambda f: (Unroll(f"{f}/i", 0),)),
    (
        "for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) a[i][j] = x[j] + i;",
        lambda f: (Unroll(f"{f}/i/j", 0), Unroll(f"{f}/i", 2)),
    ),
)


def test_unrolled_loops_do_the_same(tmp_path: Path) -> None:
    assert stepped(SAME, tmp_path) == []
