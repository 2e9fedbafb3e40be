"""A search that ends where it finds something: the same results, which guards reading on needs, and the refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.steps.same_results import assert_same, categories, rewritten, verdict_of
from warpsmith.base.verdict import Proved, Unknown
from warpsmith.loops.steps.statements import find_first
from warpsmith.loops.steps.statements.find_first import FindFirst
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.program import Assumption

_HEAD = "double f(int n, int m, double *a, double *b, int *c) { int i, at = -7; double x = 0.5; "
STEP = FindFirst("f/i")
CASES = [
    "for (i = 0; i < n; i++) if (a[i] > 1) break; return i; }",
    "for (int i = 0; i < n; i++) if (a[i] > b[i]) return i * 2; return x; }",
    "for (i = n - 1; i >= 0; i--) { double t = a[i] - 1; if (t > 1) { x = t; at = i; b[3] = 9; break; } } "
    "return x + at + i; }",
    "for (i = 0; i <= n; i += 2) { if (c[i] % 3 < 2) continue; at = c[i]; b[0] = at; break; } return at + i; }",
    "for (i = m; i < n; i++) if (c[i + 3] > 2 && c[i + 4] > 2) { c[0] = i; return 3; } return i; }",
]


def test_results_stay_the_same(tmp_path: Path) -> None:
    assert_same([(_HEAD + text, rewritten(_HEAD + text, STEP)) for text in CASES], tmp_path)


def test_the_search_is_a_reduction() -> None:
    before = _HEAD + CASES[0]
    assert categories(before)["f/i"] == "unanalyzable"
    assert categories(rewritten(before, STEP))["f/i"] == "reduction"


GUARDS = [
    ("static int x[90]; int f(int n) { for (int i = 0; i < 90; i++) if (x[i]) return i; return 0; }", []),
    ("static int x[90]; int f(int n) { for (int i = 0; i < n; i++) if (x[i]) return i; return 0; }",
     ["(n >= 1 ? (long long)n : 0) <= 90"]),
    ("#include <stdlib.h>\n"
     "int f(int n) { int *x = calloc(n, 4); for (int i = 0; i < n; i++) if (x[i]) return i; return 0; }",
     ["(n >= 1 ? (long long)n : 0) <= (long long)n"]),
    ("int f(int n, const int *x) { for (int i = 0; i < n; i++) if (x[i + 1]) return i; return 0; }",
     ["(n >= 1 ? (long long)n + 1 : 0) <= ws_allocation_upper(x, sizeof(int))"]),
    ("int f(int n, int k) { for (int i = 0; i < n; i++) if (i * i > k) return i; return 0; }", []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "guards"), GUARDS)
def test_what_must_be_there_to_read_on(text: str, guards: list[str]) -> None:
    verdict = verdict_of(text, STEP)
    assert isinstance(verdict, Proved)
    assert [print_expr(a.condition) for a in verdict.assumptions if isinstance(a, Assumption) and a.condition] == guards


REFUSED = [
    ("for (i = 0; i < n; i++) if (a[c[i]] > 1) break; return i; }", "not linear in the counter"),
    ("for (i = 0; i < n; i++) { int t = c[i]; if (a[t] > 1) break; } return i; }", "not linear in the counter"),
    ("for (i = 0; i < n; i++) if (a[i * i] > 1) break; return i; }", "not linear in the counter"),
    ("for (i = 0; i < n; i++) if (a[i * 37 % 101] > 1) break; return i; }", "not linear in the counter"),
    ("for (i = 0; i < n; i++) if (a[i - 4u] > 1) break; return i; }", "not linear in the counter"),
    ("for (i = 0; i < n; i++) { if (a[i] > 1) break; b[i] = 2; } return i; }", "more than what stands under"),
    ("for (i = 0; i < n; i++) { b[i] = 2; if (a[i] > 1) break; } return i; }", "one `if`"),
    ("for (i = 0; i < n; i++) if (a[i] > 1) b[i] = 2; return i; }", "not left"),
    ("for (i = 0; i < n; i++) if (a[i] > 1) { if (a[i] > 2) return 3; break; } return i; }", "more than one place"),
    ("for (i = 0; i < n; i++) if (n / c[i] > 1) break; return i; }", "may not be computed"),
    ("for (i = 0; i < n; i++) if (*(a + i) > 1) break; return i; }", "may not be computed"),
    ("for (i = 0; i < n; i++) if (at < 0 && a[i] > 1) { at = i; break; } return i; }", "reads what the loop sets"),
    ("for (i = 0; i < n; i++) if (c[i]-- > 1) break; return i; }", "changes something"),
]


@pytest.mark.parametrize("text, reason", REFUSED)
def test_refusals_say_why(text: str, reason: str) -> None:
    verdict = verdict_of(_HEAD + text, STEP)
    assert isinstance(verdict, Unknown) and reason in verdict.reasons[0].text


def test_no_guard_where_none_may_be_used_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    text = GUARDS[1][0]
    assert isinstance(verdict_of(text, STEP), Proved)
    monkeypatch.setattr(find_first, "_guard", lambda *_: [])
    with pytest.raises(AssertionError):
        test_what_must_be_there_to_read_on(*GUARDS[1])
