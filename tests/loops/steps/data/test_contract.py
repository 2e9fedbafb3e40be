"""Contraction: a scalar in place of the one element that an iteration uses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.steps.same_results import assert_same, rewritten, verdict_of
from warpsmith.base.verdict import Unknown
from warpsmith.loops.steps.data.contract import Contract

_HEAD = "double f(int n, int m, double *a, double *b, int *c) { double t[30] = {0}; double v[10][10]; int i, j; "
CASES = [
    (Contract("f/i", "t"), "for (i = 0; i < n; i++) { t[i] = a[i]; t[i] *= 2; b[i] = t[i]; } return 0; }"),
    (Contract("f/i", "t"), "for (i = 0; i < n; i++) { t[2 * i + 1] = a[i]; b[i] = t[i + i + 1]; } return 0; }"),
    (Contract("f/i/j", "v"),
     "for (i = 0; i < n; i++) for (j = 0; j < m; j++) { v[i][j] = a[i + j]; b[j] += v[i][j]; } return 0; }"),
    (Contract("f/i", "t"), "for (i = 0; i < n; i++) { t[3] = a[i]; b[i] = t[3]; } "
     "for (i = 0; i < n; i++) a[i] += b[i]; return 0; }"),
]  # fmt: skip


def test_results_stay_the_same(tmp_path: Path) -> None:
    pairs = [(_HEAD + text, rewritten(_HEAD + text, step)) for step, text in CASES]
    assert_same(pairs, tmp_path)


def test_the_array_goes_where_nothing_else_uses_it() -> None:
    after = rewritten(_HEAD + CASES[2][1], CASES[2][0])
    assert "v[10]" not in after
    assert "double v_one;" in after


REFUSED = [
    ("for (i = 1; i < n; i++) { t[i] = a[i]; b[i] = t[i - 1]; } return 0; }", "t", "more than one element"),
    ("for (i = 0; i < n; i++) { b[i] = t[i]; t[i] = a[i]; } return 0; }", "t", "may read what an earlier iteration"),
    ("for (i = 0; i < n; i++) { t[i] = a[i]; b[i] = t[i]; } return t[2]; }", "t", "is read after the loop"),
    ("for (i = 0; i < n; i++) { a[i] = i; b[i] = a[i]; } return 0; }", "a", "not a local array"),
    ("for (i = 0; i < n; i++) { t[c[i]] = i; b[i] = t[c[i]]; } return 0; }", "t", "more than one element"),
]


@pytest.mark.parametrize("text, name, reason", REFUSED)
def test_refusals_say_why(text: str, name: str, reason: str) -> None:
    verdict = verdict_of(_HEAD + text, Contract("f/i", name))
    assert isinstance(verdict, Unknown)
    assert reason in verdict.reasons[0].text
