"""Strip-mining: strips cover the range once, the last one as far as it goes."""

from __future__ import annotations

from pathlib import Path

from tests.loops.steps.refusals import Misfits, wrongly_answered
from tests.loops.steps.twins import Steps, stepped
from warpsmith.loops.steps.order.strip_mine import StripMine

LOOP = "for (int i = 0; i < n; i++) x[i] += 1;"
WRONG: Misfits = {
    "a strip of nothing": ("", (LOOP, lambda f: StripMine(f"{f}/i", 0))),
    "a negative strip": ("", (LOOP, lambda f: StripMine(f"{f}/i", -4))),
}
MISFITS: Misfits = {
    "read after": (
        "is read after its loop",
        ("int i; for (i = 0; i < n; i++) x[i] += 1; y[0] = i;", lambda f: StripMine(f"{f}/i", 4)),
    ),
    "a bound of another sign": (
        "without conversions",
        ("for (unsigned i = 0; i < n; i++) x[i] += 1;", lambda f: StripMine(f"{f}/i", 4)),
    ),
    "a wide counter from anywhere": (
        "might overflow",
        ("for (long i = k; i < n; i++) x[i] += 1;", lambda f: StripMine(f"{f}/i", 4)),
    ),
}


def test_wrong_values_are_told(tmp_path: Path) -> None:
    assert wrongly_answered(WRONG, tmp_path, "STP003") == {}


def test_what_does_not_fit_says_why(tmp_path: Path) -> None:
    assert wrongly_answered(MISFITS, tmp_path) == {}


SAME: tuple[tuple[str, Steps], ...] = (
    # a strip that is longer than the range, and ranges that no strip divides
    ("for (int i = 0; i < n; i++) x[i + 1] = x[i] + i;", lambda f: (StripMine(f"{f}/i", 64),)),
    ("for (int i = 0; i <= n; i++) x[i + 1] = x[i] + i;", lambda f: (StripMine(f"{f}/i", 4),)),
    ("for (int i = k; i < n; i++) x[i + 1] = x[i] + i;", lambda f: (StripMine(f"{f}/i", 3),)),
)


def test_strips_do_the_same(tmp_path: Path) -> None:
    assert stepped(SAME, tmp_path) == []
