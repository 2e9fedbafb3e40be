"""Header removal: the body once, the counter as it would be."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.steps.same_results import assert_same, rewritten, verdict_of
from warpsmith.base.verdict import Unknown
from warpsmith.loops.steps.statements.remove_header import RemoveHeader

_HEAD = "double f(int n, int m, double *a, double *b, int *c) { int i = 7; "
CASES = [
    (RemoveHeader("f/k"), "for (int k = 3; k < 4; k++) { a[k] = k; } return i; }"),
    (RemoveHeader("f/i"), "for (i = 3; i <= 3; i++) a[i] = 5; return i; }"),
    (RemoveHeader("f/k"), "for (int k = 3; k < 4; k++) { int k = 2; a[k] = k; } return i; }"),
    (RemoveHeader("f/i"), "for (i = 9; i > 5; i -= 4) { double i2 = i; a[i] += i2; } return i; }"),
    (RemoveHeader("f/k/i"), "for (int k = 0; k < n; k++) for (i = k; i < k + 1; i++) a[i] += b[k]; return i; }"),
    (RemoveHeader("f/k/i"),
     "for (int k = 0; k < n; k++) if (k > 2) for (int i = k; i > k - 1; i--) a[i] = 1; return i; }"),
]  # fmt: skip


def test_results_stay_the_same(tmp_path: Path) -> None:
    pairs = [(_HEAD + text, rewritten(_HEAD + text, step)) for step, text in CASES]
    assert_same(pairs, tmp_path)


REFUSED = [
    ("for (i = 0; i < n; i++) a[i] = 1; return 0; }", "does not follow from its bounds"),
    ("for (i = 0; i < 2; i++) a[i] = 1; return 0; }", "does not follow from its bounds"),
    ("for (i = 4; i < 4; i++) a[i] = 1; return 0; }", "does not follow from its bounds"),
    ("for (i = 4; i < 5; i++) { if (a[0] > 1) break; a[i] = 1; } return 0; }", "left early"),
]


@pytest.mark.parametrize("text, reason", REFUSED)
def test_refusals_say_why(text: str, reason: str) -> None:
    verdict = verdict_of(_HEAD + text, RemoveHeader("f/i"))
    assert isinstance(verdict, Unknown)
    assert reason in verdict.reasons[0].text
