"""Forward substitution: values in place of the variables that hold them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.steps.same_results import assert_same, rewritten, verdict_of
from warpsmith.base.verdict import Unknown
from warpsmith.loops.steps.statements import forward_substitute
from warpsmith.loops.steps.statements.forward_substitute import ForwardSubstitute

_HEAD = "double f(int n, int m, double *a, double *b, int *c) { int k = 0, l; short s = 1; unsigned char u; int i; "
CASES = [
    (ForwardSubstitute("f/i", "k"), "for (i = 0; i < n; i++) { k = i + 1; a[k] = k; k *= 2; b[k] = k; } return 0; }"),
    (ForwardSubstitute("f/i", "k"), "for (i = 0; i < n; i++) { k = i + 1; a[k] = k; } return k; }"),
    (ForwardSubstitute("f/i", "s"), "for (i = 0; i < n; i++) { s = i * 20000; a[i] = s; } return 0; }"),
    (ForwardSubstitute("f/i", "u"), "for (i = 0; i < n; i++) { u = 250; u += i; a[u % 9] = u; } return 0; }"),
    (ForwardSubstitute("f/i", "k"), "for (i = 0; i < n; i++) { k = i; k *= 1.5; a[k] += k; } return 0; }"),
    (ForwardSubstitute("f/i", "k"),
     "for (i = 0; i < n; i++) { l = i * 2; k = l + m; l = 1; a[(k + 20) % 7] = k + l; } return 0; }"),
    (ForwardSubstitute("f/i", "p"),
     "for (i = 0; i < n; i++) { double *p = a + i * 9; for (l = 0; l < m; l++) p[l] = l; *p += 2; } return 0; }"),
    (ForwardSubstitute("f/i", "k"),
     "for (i = 0; i < n; i++) { k = i; for (l = 0; l < m; l++) a[k + l] += k; } return 0; }"),
]  # fmt: skip


def test_results_stay_the_same(tmp_path: Path) -> None:
    pairs = [(_HEAD + text, rewritten(_HEAD + text, step)) for step, text in CASES]
    assert_same(pairs, tmp_path)


def test_the_subscript_of_reg_detect() -> None:
    text = "void f(int n, int mask[n + 1]) { int jj; for (int i = 0; i < n; i++) { jj = i + 1; mask[jj] = 3; } }"
    assert "mask[i + 1] = 3" in rewritten(text, ForwardSubstitute("f/i", "jj"))


REFUSED = [
    ("for (i = 0; i < n; i++) { if (a[i] > 0) k = i; b[k] = 1; } return 0; }", "k", "not one certain value"),
    ("for (i = 0; i < n; i++) { a[k] = 1; k = i; } return 0; }", "k", "not one certain value"),
    ("for (i = 0; i < n; i++) { k = m; m = m + 1; a[k] = 1; } return 0; }", "k", "not one certain value"),
    ("int *p = c + 1; for (i = 0; i < n; i++) { k = c[i]; p[i] = 2; a[k] = 1; } return 0; }", "k", "not one certain"),
    ("int *p = (int *)b; for (i = 0; i < n; i++) { k = c[i]; p[i] = 2; a[k] = 1; } return 0; }", "k", "may be changed"),
    ("for (i = 0; i < n; i++) { k = i; int *p = &k; *p = 3; a[k] = 1; } return 0; }", "k", "elsewhere"),
    ("for (i = 0; i < n; i++) { k = rand(); a[k % 3] = k; } return 0; }", "k", "not one certain value"),
    ("for (i = 0; i < n; i++) { a[i] = 1; } return 0; }", "i", "own counter"),
    ("for (i = 0; i < n; i++) { a[i] = 1; } return 0; }", "z", "no variable z"),
]


@pytest.mark.parametrize("text, name, reason", REFUSED)
def test_refusals_say_why(text: str, name: str, reason: str) -> None:
    verdict = verdict_of(f"int rand(void); {_HEAD}{text}", ForwardSubstitute("f/i", name))
    assert isinstance(verdict, Unknown)
    assert reason in verdict.reasons[0].text


def test_dropping_a_conversion_is_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(forward_substitute, "_same_type", lambda *_: True)
    with pytest.raises(AssertionError):
        test_results_stay_the_same(tmp_path)
