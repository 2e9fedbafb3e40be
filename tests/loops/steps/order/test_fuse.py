"""Fusion: what is refused and why, and bodies that are put together as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.steps.refusals import Misfits, one, wrongly_answered
from tests.loops.steps.twins import Steps, stepped
from warpsmith.base.verdict import Refuted
from warpsmith.loops.steps.order.fuse import Fuse

LOOP = "for (int i = 0; i < n; i++) x[i] += 1;"
MISFITS: Misfits = {
    "no second loop": ("no counted loop stands directly behind", (LOOP, lambda f: Fuse(f"{f}/i"))),
    "another range": (
        "do not have the same range",
        (LOOP + " for (int j = 0; j < m; j++) y[j] = 1;", lambda f: Fuse(f"{f}/i")),
    ),
    "another step": (
        "do not have the same range",
        (LOOP + " for (int j = 0; j < n; j += 2) y[j] = 1;", lambda f: Fuse(f"{f}/i")),
    ),
    "another direction": (
        "do not have the same range",
        (LOOP + " for (int j = n - 1; j >= 0; j--) y[j] = 1;", lambda f: Fuse(f"{f}/i")),
    ),
    "a statement between": (
        "no counted loop stands directly behind",
        (LOOP + " y[0] = 1; " + LOOP, lambda f: Fuse(f"{f}/i")),
    ),
    "the last value of the first counter": (
        "is read after its loop",
        (
            "int i; for (i = 0; i < n; i++) x[i] = 1; for (int j = 0; j < n; j++) y[j] = i;",
            lambda f: Fuse(f"{f}/i"),
        ),
    ),
}


def test_what_does_not_fit_says_why(tmp_path: Path) -> None:
    assert wrongly_answered(MISFITS, tmp_path) == {}


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) x[i] = y[i]; for (int i = 0; i < n; i++) y[i] = x[i + 1];",
        "for (int i = 0; i < n; i++) x[i] = 1; for (int i = 0; i < n; i++) x[i + 1] = 2;",
        "for (int i = n; i > 0; i--) x[i] = y[i]; for (int i = n; i > 0; i--) y[i] = x[i - 1];",
    ],
)
def test_a_later_iteration_of_the_first_loop_is_not_overtaken(body: str, tmp_path: Path) -> None:
    verdict = one(body, tmp_path).check(Fuse("F/i"))
    assert isinstance(verdict, Refuted), verdict
    assert verdict.reasons[0].rule == "STP001" and verdict.reasons[0].dependence is not None


SAME: tuple[tuple[str, Steps], ...] = (
    # the second body has a variable of the name of one in the first, and reads behind itself
    (
        "for (int i = 1; i < n; i++) { double t = y[i]; x[i] = t; }"
        " for (int j = 1; j < n; j++) { double t = x[j - 1]; y[j] = t + x[j]; }",
        lambda f: (Fuse(f"{f}/i"),),
    ),
    (
        "for (int i = n; i > 0; i--) x[i] = y[i]; for (int j = n; j > 0; j--) y[j] = x[j + 1];",
        lambda f: (Fuse(f"{f}/i"),),
    ),
    (
        "for (int i = 0; i < n; i += 3) x[i] += 1; for (int j = 0; j < n; j += 3) x[j] *= 2;",
        lambda f: (Fuse(f"{f}/i"),),
    ),
)


def test_fused_loops_do_the_same(tmp_path: Path) -> None:
    assert stepped(SAME, tmp_path) == []
