"""Privatization: an iteration's own copy behaves as the shared one did."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.steps.same_results import assert_same, categories, rewritten, verdict_of
from warpsmith.base.verdict import Unknown
from warpsmith.loops.steps.data import privatize
from warpsmith.loops.steps.data.privatize import Privatize

_HEAD = "double f(int n, int m, double *a, double *b, int *c) { double w = 2, t[12] = {0}; int i, j; "
CASES = [
    (Privatize("f/i", "w"), "for (i = 0; i < n; i++) { w = a[i]; b[i] = w * w; } return 0; }"),
    (Privatize("f/i", "w"), "for (i = 0; i < n; i++) for (j = 0; j < m; j++) { w = a[i + j]; b[i] += w; } return 0; }"),
    (Privatize("f/i/j", "w"), "for (i = 0; i < n; i++) for (j = 0; j < m; j++) b[j] = (w = a[i]) + 1; return 0; }"),
    (Privatize("f/i", "t"),
     "for (i = 0; i < n; i++) { for (j = 0; j < m; j++) t[j] = a[i + j]; for (j = m - 1; j >= 0; j--) b[i] += t[j]; } "
     "return 0; }"),
    (Privatize("f/i", "w"), "for (i = 0; i < n; i++) { if (a[i] > 2) continue; w = a[i]; b[i] = w; } return 0; }"),
]  # fmt: skip


def test_results_stay_the_same(tmp_path: Path) -> None:
    pairs = [(_HEAD + text, rewritten(_HEAD + text, step)) for step, text in CASES]
    assert_same(pairs, tmp_path)


def test_a_private_array_makes_the_loop_parallel() -> None:
    text = _HEAD.replace("double *a, double *b", "double *restrict a, double *restrict b") + CASES[3][1]
    assert categories(text)["f/i"] != "parallel"
    assert categories(rewritten(text, CASES[3][0]))["f/i"] == "parallel"


REFUSED = [
    ("for (i = 0; i < n; i++) { w = a[i]; } return w; }", "w", "needed after the loop"),
    ("for (i = 0; i < n; i++) { b[i] = w; w = a[i]; } return 0; }", "w", "may read what an earlier iteration"),
    ("for (i = 0; i < n; i++) { b[0] = a[i]; a[i] = b[0]; } return 0; }", "b", "the extents of b are not numbers"),
    ("for (i = 0; i < n; i++) { double v = a[i]; b[i] = v; } return 0; }", "v", "already has its own v"),
    ("for (i = 0; i < n; i++) { w = a[i]; double *p = &w; b[i] = *p; } return 0; }", "w", "address"),
]


@pytest.mark.parametrize("text, name, reason", REFUSED)
def test_refusals_say_why(text: str, name: str, reason: str) -> None:
    verdict = verdict_of(_HEAD + text, Privatize("f/i", name))
    assert isinstance(verdict, Unknown)
    assert reason in verdict.reasons[0].text


def test_forgetting_what_is_read_later_is_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(privatize, "read_after", lambda *_: False)
    text = _HEAD + REFUSED[0][0]
    with pytest.raises(AssertionError):
        assert_same([(text, rewritten(text, Privatize("f/i", "w")))], tmp_path)
