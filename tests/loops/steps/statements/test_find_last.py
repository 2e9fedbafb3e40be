"""The last iteration that sets variables: the same results, a loop that may run in any order, and the refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.steps.same_results import assert_same, categories, rewritten, verdict_of
from warpsmith.base.verdict import Unknown
from warpsmith.loops.steps.statements.find_last import FindLast
from warpsmith.loops.writing import chosen

_HEAD = "double f(int n, int m, double *a, double *b, int *c) { int i, at = -7; double last = 0.5; unsigned u; "
STEP = FindLast("f/i")
CASES = [
    "for (i = 0; i < n; i++) if (a[i] > 1) last = a[i]; return last + i; }",
    "for (i = n - 1; i >= 0; i--) if (a[i] > 1) { last = a[i]; at = i; } return last * 100 + at + i; }",
    "for (i = m; i <= n; i += 2) { double t = b[i + 3] * 2; if (t < 3) { at = i; last = t + at; } } "
    "return last + at + i; }",
    "for (i = 0; i < n; i++) { if (c[i] > 2) continue; at = i; last = a[at]; } return last + at; }",
    "for (i = 0; i < n; i++) if (c[i] > 2) if (b[i] > 0) { at = c[i]; } return at + i; }",
    "for (int i = n; i > m; --i) if (c[i + 4] == 3) last = i / 2; return last; }",
]


def test_results_stay_the_same(tmp_path: Path) -> None:
    assert_same([(_HEAD + text, rewritten(_HEAD + text, STEP)) for text in CASES], tmp_path)


def test_the_search_is_a_reduction() -> None:
    before = _HEAD + CASES[0]
    assert categories(before)["f/i"] == "sequential"
    assert categories(rewritten(before, STEP))["f/i"] == "reduction"


REFUSED = [
    ("for (i = 0; i < n; i++) if (a[i] > last) last = b[i]; return last; }", "reads what the branch sets"),
    ("for (i = 0; i < n; i++) if (a[i] > 1) last = last + b[i]; return last; }", "does not depend on the iteration"),
    ("for (i = 0; i < n; i++) if (a[i] > 1) { last = at; at = i; } return last; }", "does not depend on the iteration"),
    ("for (i = 0; i < n; i++) if (a[i] > 1) b[0] = a[i]; return last; }", "more than setting numbers"),
    ("for (i = 0; i < n; i++) if (a[i] > 1) last = a[i]; else at = i; return last; }", "one `if`"),
    ("for (i = 0; i < n; i++) { a[i] = 2; if (a[i] > 1) last = a[i]; } return last; }", "one `if`"),
    ("for (i = 0; i < n; i++) { if (a[i] > 1) last = a[i]; a[i] = 2; } return last; }", "more than what stands under"),
    ("for (i = 0; i < n; i++) if (c[i]++) last = a[i]; return last; }", "changes something"),
    ("double *p = &last; for (i = 0; i < n; i++) if (a[i] > *p) last = a[i]; return last; }", "elsewhere"),
    ("long long k; for (k = n; k > m; k--) if (a[k] > 1) last = a[k]; return last; }", "cannot be numbered"),
]


@pytest.mark.parametrize("text, reason", REFUSED)
def test_refusals_say_why(text: str, reason: str) -> None:
    verdict = verdict_of(_HEAD + text, FindLast("f/k" if "k--" in text else "f/i"))
    assert isinstance(verdict, Unknown) and reason in verdict.reasons[0].text


def test_the_first_in_place_of_the_last_is_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    original = chosen._shift
    monkeypatch.setattr(chosen, "_shift", lambda expr, by: original(expr, -by))
    with pytest.raises(AssertionError):
        test_results_stay_the_same(tmp_path)
