"""Elimination of induction variables: closed forms in the variable's own type, the final value restored."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.steps.same_results import assert_same, categories, rewritten, verdict_of
from warpsmith.base.verdict import Unknown
from warpsmith.loops.steps.statements import eliminate_recurrence
from warpsmith.loops.steps.statements.eliminate_recurrence import EliminateRecurrence

_HEAD = "double f(int n, int m, double *a, double *b, int *c) { int k = 1, i, j; unsigned u = 2; short s = 9; "
STEP = EliminateRecurrence("f/i", "k")
CASES = [
    (STEP, "for (i = 0; i < n; i++) { a[k] = k; k += 2; b[k] = k; } return k; }"),
    (STEP, "for (i = 3; i < n; i += 2) { a[k] += k; ++k; } return k; }"),
    (STEP, "for (i = n; i >= m; i -= 3) { a[k + 9] += k; k = 4 + k; } return k; }"),
    (STEP, "k = 60; for (i = m; i < n; i++) { a[k] += k * 2; k -= 3; } return k; }"),
    (STEP, "for (i = 0; i < n; i++) { for (j = 0; j < 3; j++) a[k + 50 + j] += k % 4; k += m; } return k; }"),
    (STEP, "k = -2000000000; for (i = 0; i < n; i++) { a[i] += k; k += 500000000; } return k; }"),
    (EliminateRecurrence("f/i", "u"), "for (i = 0; i < n; i++) { a[u % 9] += u; u -= 3; b[i] = u / 2; } return u; }"),
    (EliminateRecurrence("f/i", "s"), "for (i = 0; i < n; i++) { a[i] += s; s += 16000; b[i] = s; } return s; }"),
    (EliminateRecurrence("f/i", "p"),
     "double *p = a + 40; for (i = m; i < n; i++) { *p = i; p += 2; p[-1] = 3; } *p = 9; return 0; }"),
    (EliminateRecurrence("f/i/j", "k"),
     "for (i = 0; i < n; i++) for (j = 0; j < m; j++) { a[k] = i * j; k++; } return k; }"),
]  # fmt: skip


def test_results_stay_the_same(tmp_path: Path) -> None:
    pairs = [(_HEAD + text, rewritten(_HEAD + text, step)) for step, text in CASES]
    nested = pairs[-1][1]
    pairs.append((_HEAD + CASES[-1][1], rewritten(nested, STEP)))
    assert_same(pairs, tmp_path)


def test_a_nest_that_counts_is_parallel_afterwards() -> None:
    head = "void f(int n, int m, double *a) { int k = 0; "
    text = head + "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { a[k] = 1; k++; } }"
    inner = rewritten(text, EliminateRecurrence("f/i/j", "k"))
    found = categories(rewritten(inner, STEP))
    assert categories(text)["f/i/j"] != "parallel"
    assert (found["f/i"], found["f/i/j"]) == ("parallel", "parallel")


def test_plain_arithmetic_where_nothing_can_overflow() -> None:
    text = "void f(int n, double *a) { int k = 0; for (int i = 0; i < n; i++) { a[k] = k; k += 2; } }"
    assert "a[2 * i] = 2 * i;" in rewritten(text, STEP)


REFUSED = [
    ("for (i = 0; i < n; i++) { if (a[i] > 0) k++; b[k] = 1; } return 0; }", "may change in the loop"),
    ("for (i = 0; i < n; i++) { k++; a[k] = 1; k += 2; } return 0; }", "written in 2 places"),
    ("for (i = 0; i < n; i++) { a[i] = k; k *= 2; } return 0; }", "not moved on by an amount"),
    ("for (i = 0; i < n; i++) { a[i] = k; k += i; } return 0; }", "may change in the loop"),
    ("for (i = 0; i < n; i++) { if (a[i] > 2) continue; k += 1; a[k] = 2; } return 0; }", "left early"),
    ("int *p = &k; for (i = 0; i < n; i++) { k += 1; *p = 2; } return 0; }", "elsewhere"),
    ("for (i = 0; i < n; i++) { a[k++] = 2; } return 0; }", "not moved on by an amount"),
]


@pytest.mark.parametrize("text, reason", REFUSED)
def test_refusals_say_why(text: str, reason: str) -> None:
    verdict = verdict_of(_HEAD + text, STEP)
    assert isinstance(verdict, Unknown)
    assert reason in verdict.reasons[0].text


def test_counting_from_the_wrong_iteration_is_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    original = eliminate_recurrence._close_form
    monkeypatch.setattr(eliminate_recurrence, "_close_form", lambda *given, done: original(*given, done=not done))
    with pytest.raises(AssertionError):
        test_results_stay_the_same(tmp_path)
