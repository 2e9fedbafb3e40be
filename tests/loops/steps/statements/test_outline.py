"""Outlining: a function of its own does what the loop did."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.steps.same_results import assert_same, categories, rewritten, verdict_of
from warpsmith.base.verdict import Unknown
from warpsmith.loops.steps.statements import outline
from warpsmith.loops.steps.statements.outline import Outline

_HEAD = "double f(int n, int m, double *a, double *b, int *c) { double w = 2, t[4] = {1}; int i = 9, j, k = 1; "
_STEP = Outline("f/i", "helper")
CASES = [
    "for (i = 0; i < n; i++) a[i] = w * b[i] + k; return w; }",
    "for (i = 0; i < n; i++) { w += a[i]; k = i; } return w + k + i; }",
    "for (i = 0; i < n; i++) for (j = 0; j < m; j++) { t[j % 4] += a[i] * b[j]; c[i] = j; } return t[1]; }",
    "double *p = a; for (i = 0; i < n; i++) { *p++ = i; if (c[i] > 4) break; } return p - a; }",
    "int x = 6; double v[x][x]; for (i = 0; i < x; i++) for (j = 0; j < x; j++) v[i][j] = i * j; return v[x - 1][2]; }",
]


def test_results_stay_the_same(tmp_path: Path) -> None:
    assert_same([(_HEAD + text, rewritten(_HEAD + text, _STEP)) for text in CASES], tmp_path)


def test_the_new_functions_loop_is_known() -> None:
    text = "void f(int n, double *restrict a) { for (int i = 0; i < n; i++) a[i] = i; }"
    assert categories(rewritten(text, Outline("f/i", "fill"))) == {"fill/i": "parallel"}


REFUSED = [
    ("for (i = 0; i < n; i++) { if (a[i] > 2) return 1; } return w; }", "helper", "left by other ways"),
    ("int *p = &k; for (i = 0; i < n; i++) { k += *p; } return w; }", "helper", "the address of k"),
    ("static int s; for (i = 0; i < n; i++) { s += i; } return s; }", "helper", "between calls"),
    ("for (i = 0; i < n; i++) { k += i; } return k; }", "f", "is in use"),
    ("for (i = 0; i < n; i++) { k += i; } return k; }", "2x", "is no name"),
]


@pytest.mark.parametrize("text, name, reason", REFUSED)
def test_refusals_say_why(text: str, name: str, reason: str) -> None:
    verdict = verdict_of(_HEAD + text, Outline("f/i", name))
    assert isinstance(verdict, Unknown)
    assert reason in verdict.reasons[0].text


def test_forgetting_the_first_value_is_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    original = outline._declare
    monkeypatch.setattr(outline, "_declare", lambda symbol, _, span: original(symbol, None, span))
    with pytest.raises(AssertionError):
        test_results_stay_the_same(tmp_path)
