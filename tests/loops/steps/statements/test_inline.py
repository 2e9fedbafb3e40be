"""Inlining: the body does what the call did."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.steps.same_results import assert_same, categories, rewritten, verdict_of
from warpsmith.base.verdict import Unknown
from warpsmith.loops.steps.statements import inline
from warpsmith.loops.steps.statements.inline import Inline

_HEAD = "double f(int n, int m, double *a, double *b, int *c) { double w = 2; int i, k = 5; "
_PAIR = "struct helper { double x, *v; };"
_STEP = Inline("f/i", "helper")
CASES = [
    ("static double helper(double x, int k) { double w = x * k; k = 3; return w + k; }",
     "for (i = 0; i < n; i++) a[i] = helper(b[i], k + i); return w + k; }"),
    ("static void helper(int i, double *v) { for (int k = 0; k < i; k++) v[k] += i; }",
     "for (i = 0; i < n; i++) { helper(i, a); helper(k, b); } return w; }"),
    ("static int helper(double x) { return x * 1.5; }",
     "for (i = 0; i < n; i++) { w = helper(a[i]); b[i] += w; } return w; }"),
    ("static double helper(double x) { x += 1; return x; }",
     "for (i = 0; i < n; i++) { if (c[i] > 2) w = helper(w); else b[i] = helper(w); } return w; }"),
    ("static double helper(double x, double *y) { *y = 7; return x; }",
     "for (i = 0; i < n; i++) { b[i] = helper(w, &w); } return w; }"),
    ("static double helper(unsigned char x, float y) { return x + y; }",
     "for (i = 0; i < n; i++) { b[i] = helper(i * 100, 0.1); } return w; }"),
    ("static int helper(int x) { return x; }", "for (i = 0; i < n; i++) { helper(i); } return w; }"),
    ("static int helper(signed char x) { return x + x; }",
     "for (i = 0; i < n; i++) { a[i] = c[i] + 2 * helper(i * 77) - 1; } return w; }"),
    ("static float helper(double x, int y) { return y ? x / 3 : x; }",
     "for (i = 0; i < n; i++) { if (i > 1 && helper(b[i], c[i]) < 3) a[i] = 1 - helper(a[i], 1); } return w; }"),
    ("static double helper(const double *x, int i) { return x[i] - x[0]; }",
     "for (i = 0; i < n; i++) { a[i] *= helper(b, i); b[i] += helper(a + 1, i) * 2; w -= helper(a, 0); } return w; }"),
    ("static double helper(double x) { x *= 2; return x + 1; }",
     "for (i = 0; i < n; i++) { a[i] += helper(b[i]); w -= helper(w); } return w; }"),
    ("static double helper(double x) { x *= 2; return x + 1; }",
     "for (i = 0; i < n; i++) { double d = helper(b[i]); a[i] = d; d = helper(d); w += d; } return w; }"),
    (f"{_PAIR} static double helper(struct helper p, int i) {{ double s = 0; for (int k = 0; k < i; k++) s += p.v[k];"
     " return s * p.x; }",
     "struct helper q = {w, b}; for (i = 0; i < n; i++) { double d = helper(q, i); a[i] = d; } return w; }"),
    (f"{_PAIR} static double helper(struct helper p, int i) {{ p.x += i; p.v = p.v + 1; return p.x + p.v[i]; }}",
     "struct helper q = {w, b}; for (i = 0; i < n; i++) { a[i] = helper(q, i); w += q.x + q.v[i]; } return w; }"),
    (f"{_PAIR} static double helper(struct helper p, double *y) {{ *y = 7; y = p.v; return p.x + y[0]; }}",
     "struct helper q = {w, b}; for (i = 0; i < n; i++) { a[i] = helper(q, &q.x); } return w + q.x; }"),
    ("struct helper { double x[2]; };"
     " static double helper(struct helper p, double *y) { y[0] = 7; y = p.x; return y[0]; }",
     "struct helper q = {{w, 3}}; for (i = 0; i < n; i++) { a[i] = helper(q, q.x); } return w + q.x[0]; }"),
]  # fmt: skip


def test_results_stay_the_same(tmp_path: Path) -> None:
    before = [f"{helper} {_HEAD}{text}" for helper, text in CASES]
    pairs = [(text, rewritten(text, _STEP)) for text in before]
    assert_same(pairs, tmp_path)


def test_the_loop_is_parallel_when_the_body_is_seen() -> None:
    text = (
        "static void helper(int i, double *restrict v) { v[i] = i; v[i] += 2; } "
        "void f(int n, double *restrict a) { for (int i = 0; i < n; i++) { helper(i, a); } }"
    )
    after = rewritten(text, _STEP)
    assert "a[i] = i" in after
    assert categories(after)["f/i"] == "parallel"


REFUSED = [
    ("static int helper(int x) { if (x > 2) return 1; return x; }", "k = helper(i);", "returns before its end"),
    ("static int helper(int x) { static int y; y += x; return y; }", "k = helper(i);", "between calls"),
    ("static int helper(int x) { return x > 0 ? helper(x - 1) : 0; }", "k = helper(i);", "may call itself"),
    ("static int helper(int x) { x = 2 * x; return x; }", "k = 1 + helper(i);", "inside an expression"),
    ("static int helper(int x) { return x; }", "w = 1 + helper(k++);", "inside an expression"),
    ("static int helper(int x) { x = 2 * x; return x; }", "const int d = helper(i); k += d;", "inside an expression"),
    ("static int helper(int x) { x = 2 * x; return x; }", "int e = 1, d = helper(i); k += d + e;", "inside an exp"),
    ("static int helper(int x) { return *(&x); }", "k = 1 + helper(i);", "inside an expression"),
    ("static int helper(int x) { return x; }", '_Pragma("omp atomic") k += helper(i);', "a pragma speaks"),
    ("static int w; static int helper(int x) { return x + w; }", "k = helper(i);", "is another variable"),
    ("int helper(int x);", "k = helper(i);", "defines no function"),
    ("static int helper(int x) { return x; }", "k = i;", "does not call"),
    ("static int helper(int x) { return x; }", "a[k++] = helper(i);", "effects of its own"),
]


@pytest.mark.parametrize("helper, text, reason", REFUSED)
def test_refusals_say_why(helper: str, text: str, reason: str) -> None:
    verdict = verdict_of(f"{helper} {_HEAD} for (i = 0; i < n; i++) {{ {text} }} return w; }}", _STEP)
    assert isinstance(verdict, Unknown)
    assert reason in verdict.reasons[0].text


@pytest.mark.slow
@pytest.mark.parametrize("blind", ["_changes_part", "_has_array"])
def test_a_struct_that_is_changed_in_between_is_caught(
    blind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(inline, blind, lambda *_: False)
    with pytest.raises(AssertionError):
        test_results_stay_the_same(tmp_path)


@pytest.mark.slow
def test_a_variable_that_is_written_in_between_is_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(inline, "_stands_for", lambda parameter, argument, *_: hasattr(argument, "symbol"))
    with pytest.raises(AssertionError):
        test_results_stay_the_same(tmp_path)
