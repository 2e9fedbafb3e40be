"""Shifting: the body sees the old values, in a counter that holds the new ones."""

from __future__ import annotations

from pathlib import Path

from tests.loops.steps.refusals import Misfits, wrongly_answered
from tests.loops.steps.twins import Steps, stepped
from warpsmith.loops.steps.order.shift import Shift

LOOP = "for (int i = 0; i < n; i++) x[i] += 1;"
WRONG: Misfits = {
    "no shift": ("", (LOOP, lambda f: Shift(f"{f}/i", 0))),
    "too far": ("", (LOOP, lambda f: Shift(f"{f}/i", 1 << 40))),
}
MISFITS: Misfits = {
    "read after": (
        "is read after its loop",
        ("int i; for (i = 0; i < n; i++) x[i] += 1; y[0] = i;", lambda f: Shift(f"{f}/i", 4)),
    ),
    "what is not declared in the loop": (
        "might overflow",
        ("int i; for (i = 0; i < n; i++) x[i] += 1;", lambda f: Shift(f"{f}/i", 3)),
    ),
    "a wide counter": ("might overflow", ("for (long i = 0; i < n; i++) x[i] += 1;", lambda f: Shift(f"{f}/i", 3))),
}


def test_wrong_values_are_told(tmp_path: Path) -> None:
    assert wrongly_answered(WRONG, tmp_path, "STP003") == {}


def test_what_does_not_fit_says_why(tmp_path: Path) -> None:
    assert wrongly_answered(MISFITS, tmp_path) == {}


SAME: tuple[tuple[str, Steps], ...] = (
    # values that the counter's own type does not hold once they are shifted
    ("for (int i = 2147483640; i < 2147483647; i++) x[i - 2147483640] = i;", lambda f: (Shift(f"{f}/i", 100),)),
    ("for (int i = -2147483640; i > -2147483647; i--) x[-2147483640 - i] = i;", lambda f: (Shift(f"{f}/i", -9),)),
    ("for (int i = 0; i < n; i++) x[i] = i / 2 + (i & 1);", lambda f: (Shift(f"{f}/i", -3),)),
    ("for (int i = n; i > k; i -= 2) x[i] = x[i + 1] - i;", lambda f: (Shift(f"{f}/i", 1000),)),
    # the type of the old value decides what is computed with it
    ("for (int i = 0; i < 4; i++) x[i] = (i - 3) / 2 + (unsigned)(i - 2) % 7;", lambda f: (Shift(f"{f}/i", 5),)),
)


def test_shifted_loops_do_the_same(tmp_path: Path) -> None:
    assert stepped(SAME, tmp_path) == []
