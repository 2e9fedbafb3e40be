"""Peeling: iterations that stand apart are run exactly where the loop would have run them."""

from __future__ import annotations

from pathlib import Path

from tests.loops.steps.refusals import Misfits, wrongly_answered
from tests.loops.steps.twins import Steps, stepped
from warpsmith.loops.steps.order.peel import Peel

LOOP = "for (int i = 0; i < n; i++) x[i] += 1;"
WRONG: Misfits = {
    "nothing to peel": ("", (LOOP, lambda f: Peel(f"{f}/i"))),
    "two last ones": ("", (LOOP, lambda f: Peel(f"{f}/i", 0, 2))),
    "a negative count": ("", (LOOP, lambda f: Peel(f"{f}/i", -1))),
}
MISFITS: Misfits = {
    "an array measured by the counter": (
        "cannot be rewritten",
        ("for (int i = 1; i < 4; i++) { double t[i]; t[0] = 1; x[i] = t[0]; }", lambda f: Peel(f"{f}/i", 1)),
    ),
    "a bound that the body changes": (
        "may change the bound",
        ("int q = 0; for (int i = q; i < n; i++) { x[i] = 1; q = i; }", lambda f: Peel(f"{f}/i", 1)),
    ),
    "many from anywhere": ("does not start at a number", (LOOP.replace("i = 0", "i = k"), lambda f: Peel(f"{f}/i", 2))),
    "the last of steps of two": ("its step is 2", (LOOP.replace("i++", "i += 2"), lambda f: Peel(f"{f}/i", 0, 1))),
    "both ends of a loop from anywhere": (
        "in two steps",
        (LOOP.replace("i = 0", "i = k"), lambda f: Peel(f"{f}/i", 1, 1)),
    ),
}


def test_wrong_values_are_told(tmp_path: Path) -> None:
    assert wrongly_answered(WRONG, tmp_path, "STP003") == {}


def test_what_does_not_fit_says_why(tmp_path: Path) -> None:
    assert wrongly_answered(MISFITS, tmp_path) == {}


SAME: tuple[tuple[str, Steps], ...] = (
    # fewer iterations than are peeled, at several of the sizes
    ("for (int i = 0; i < n; i++) { double t = x[i]; y[i] = t + i; }", lambda f: (Peel(f"{f}/i", 3),)),
    ("for (int i = 0; i <= n; i++) x[i] = 2 * x[i] + i;", lambda f: (Peel(f"{f}/i", 2, 1),)),
    ("for (int i = n; i > 0; i--) x[i] = x[i + 1] + i;", lambda f: (Peel(f"{f}/i", 0, 1),)),
    ("for (int i = n; i >= k; i--) x[i] = x[i + 1] + i;", lambda f: (Peel(f"{f}/i", 1),)),
    ("for (int i = 2; i < n; i += 3) x[i] = x[i - 1] + i;", lambda f: (Peel(f"{f}/i", 2),)),
    # the bound is read before a peeled iteration changes what it was made of
    ("for (int i = 0; i < n + k; i++) x[i & 31] = i + n;", lambda f: (Peel(f"{f}/i", 1),)),
)


def test_peeled_loops_do_the_same(tmp_path: Path) -> None:
    assert stepped(SAME, tmp_path) == []
