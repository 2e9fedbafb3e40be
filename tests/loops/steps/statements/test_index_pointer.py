"""A moving pointer as a subscript: the same results, what is left of the pointer behind the loop, and the refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.steps.same_results import assert_same, categories, rewritten, verdict_of
from warpsmith.base.verdict import Unknown
from warpsmith.loops.steps.statements import index_pointer
from warpsmith.loops.steps.statements.index_pointer import IndexPointer

_HEAD = (
    "double f(int n, int m, double *a, double *b, int *c) { int i, j; double *p = a + 40; "
    "struct box { double x; } *q = (struct box *)b; "
)
STEP = IndexPointer("f/i", "p")
CASES = [
    (STEP, "for (i = 0; i < n; i++) if (b[i] > 3) *p++ = b[i]; *p = 7; return p - a; }"),
    (STEP, "for (i = 0; i < n; i++) { if (b[i] > 3) { *p = b[i]; p += 2; } else p[1] = 2; } return p - a; }"),
    (STEP, "for (i = n; i > 0; i -= 2) { *--p = i; p[-1] += p[0]; } return 0; }"),
    (STEP, "for (i = 0; i < n; i++) { p -= i % 3; b[i] += *(p + 1); p += i % 3; } return *p; }"),
    (STEP, "for (i = 0; i < n; i++) { b[i] += *(p - 2); if (c[i] > 0) p++; if (p > a + 50) b[0] += 1; } return *p; }"),
    (STEP, "for (i = 0; i < n; i++) { double *old = p++; *old = i; old[1] = 2; } return *p; }"),
    (STEP, "for (i = 0; i < n; i++) for (j = 0; j < m; j++) if ((i + j) % 3) *p++ += j; return p - a; }"),
    (IndexPointer("f/i/j", "p"), "for (i = 0; i < n; i++) for (j = 0; j < m; j++) *p++ += j; return p - a; }"),
    (IndexPointer("f/i", "q"), "for (i = 0; i < n; i++) { if (c[i] > 0) q++; q->x = i; (*q).x += 2; } return q->x; }"),
]  # fmt: skip


def test_results_stay_the_same(tmp_path: Path) -> None:
    assert_same([(_HEAD + text, rewritten(_HEAD + text, step)) for step, text in CASES], tmp_path)


def test_what_is_pointed_to_is_subscripted() -> None:
    text = "int f(int n, int *p) { for (int i = 0; i < n; i++) { if (i % 3) { *p = p[-1] + i; p += 1; } } return *p; }"
    new = rewritten(text, IndexPointer("f/i", "p"))
    assert "p[p_at] = p[p_at + -1] + i;" in new and "p_at += 1;" in new and "p += p_at;" in new
    unread = "void f(int n, int *p) { for (int i = 0; i < n; i++) *p++ = i; }"
    assert "p += p_at;" not in rewritten(unread, IndexPointer("f/i", "p"))


def test_elements_that_are_kept_can_be_counted_afterwards() -> None:
    text = "int *f(int n, int *restrict p, const int *restrict x) { BODY return p; }"
    text = text.replace("BODY", "for (int i = 0; i < n; i++) if (x[i]) *p++ = x[i];")
    assert categories(text)["f/i"] == "unanalyzable"
    assert categories(rewritten(text, IndexPointer("f/i", "p")))["f/i"] == "scan"


REFUSED = [
    ("for (i = 0; i < n; i++) { p++; if (b[i] > 3) p = a; *p = 1; } return *p; }", "set to another place"),
    ("for (i = 0; i < n; i++) *p = 1; return *p; }", "does not move"),
    ("double **r = &p; for (i = 0; i < n; i++) { *p++ = 1; **r = 2; } return *p; }", "elsewhere"),
    ("for (i = 0; i < n; i++) { p++; a[sizeof p] = 1; } return *p; }", "where it must stay"),
]


@pytest.mark.parametrize("text, reason", REFUSED)
def test_refusals_say_why(text: str, reason: str) -> None:
    verdict = verdict_of(_HEAD + text, STEP)
    assert isinstance(verdict, Unknown) and reason in verdict.reasons[0].text


def test_a_pointer_that_is_not_restored_is_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    original = index_pointer._restore_pointer
    monkeypatch.setattr(index_pointer, "_restore_pointer", lambda p, count, span: original(p, p, span))
    with pytest.raises(AssertionError):
        test_results_stay_the_same(tmp_path)
