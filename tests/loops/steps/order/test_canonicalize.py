"""Loops that walk, as counted loops: the same results, also where they are left early, and the refusals."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tests.loops.steps.same_results import assert_same, categories, rewritten, verdict_of
from warpsmith.base.verdict import Proved, Unknown
from warpsmith.loops.steps.order import canonicalize
from warpsmith.loops.steps.order.canonicalize import Canonicalize
from warpsmith.loops.writing import counted_walks, walked

_HEAD = "double f(int n, int m, double *a, double *b, int *c) { int q = n > 0 ? n : 0, r = q + 1; double s = 0; "
# a loop with BODY, in which X is the element at hand; what is read behind it
LOOPS = [
    ("const double *p; for (p = a; p != a + q; ++p) BODY", "*p", "p - a"),
    ("const double *p = a + 3, *end = p + q; for (; p < end; p += 2) BODY", "p[-1]", "p - a"),
    ("double *p; int i; for (p = a + q, i = 0; p > a; p--, i += 3) BODY", "(*p + i)", "p - a + i"),
    ("for (const double *p = a, *end = a + q; p <= end; ++p) BODY", "*p", "0"),
    ("double *end = a + q; while (end != a) { --end; BODY }", "*end", "end - a"),
    ("double *p = a, *o = b; while (p < a + q && *p != 5) { BODY p++; ++o; }", "(*p + o[1])", "p - a + (o - b)"),
    ("int i = 0; while (i < q && a[i] != 5) { BODY i++; }", "a[i]", "i"),
    ("int i; for (i = 0; a[i] != 5 && i < q; i++) BODY", "a[i]", "i"),
    ("while (n-- > 0) BODY", "a[n]", "n"),
    ("double *p = a; while (--n >= 0) { BODY p += 2; }", "(*p + n)", "n + (p - a)"),
    ("unsigned u = q; double *p = a; while (u--) { BODY p++; }", "p[0]", "(int)u"),
    ("for (unsigned long k = q; k-- > 0;) BODY", "a[k]", "0"),
    ("unsigned k = q, w = 7; while (k) { BODY k--; w -= 2; }", "(a[k] + w)", "(int)(k + w)"),
    ("int i = m; while (i < q) { BODY i++; }", "(i >= 0 ? a[i] : i)", "i"),
    ("int i = q; while (1) { if (i <= m) break; BODY i -= 2; }", "a[i + 3]", "i"),
    ("int i = q - 1; while (i >= 0 && c[i] != 3) { BODY --i; }", "a[i]", "i"),
    ("int i = 0; do { BODY ++i; } while (i < r);", "a[i]", "i"),
    ("int i = 0; do BODY while (++i < r && i);", "a[i]", "i"),
    ("int i = 0; do BODY while (++i < r);", "a[i]", "i"),
    ("double *p = a; do { BODY p++; } while (p != a + r);", "*p", "p - a"),
    ("do { BODY } while (--r);", "a[r]", "r"),
    ("const double *p = a; int j; for (j = 0; p < a + q; j--) { double v = *p++; BODY }", "(v + j)", "j"),
    ("int g = m > 0 ? m : 1; for (int i = g; i * g <= q; i++) BODY", "a[i * g]", "0"),
    ("int g = m > 0 ? m : 1, i; for (i = 0; g * i < r; i += 2) BODY", "a[i * g]", "i"),
    ("long g = -2; unsigned u; for (u = 2; u != r + 1u; u++, g += 5) BODY", "(a[u] * g)", "g + u"),
]
BODIES = [
    "{ s += X; }",
    "{ if (X == 3) break; s += 2 * X; }",
    "{ if (X > 4) return s + 100; b[9] += X; }",
    "{ if (X < 0) continue; s += X; }",
    "{ for (int j = 0; j < m; j++) { if (j > 3) break; s += X * j; } }",
]


def _programs() -> list[tuple[str, Canonicalize]]:
    found = []
    for (loop, element, value), body in product(LOOPS, BODIES):
        form = "while" if "while" in loop and "do " not in loop else "do" if "do " in loop else "for"
        text = loop.replace("BODY", body).replace("X", element)
        found.append((f"{_HEAD}{text} return s + 1000 * ({value}); }}", Canonicalize(f"f/{form}")))
    return found


def _pairs(step: int = 1) -> list[tuple[str, str]]:
    """Return one in `step` of the programs for which that is legal, before and after."""
    found = _programs()[::step]
    return [(text, rewritten(text, one)) for text, one in found if isinstance(verdict_of(text, one), Proved)]


@pytest.mark.parametrize(("step", "least"), [(4, 20), pytest.param(1, 85, marks=pytest.mark.slow)])
def test_results_stay_the_same(step: int, least: int, tmp_path: Path) -> None:
    pairs = _pairs(step)
    assert len(pairs) >= least
    assert_same(pairs, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["moves", "start", "restore", "order"])
def test_a_bug_is_caught(bug: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    match bug:
        case "moves":
            monkeypatch.setattr(counted_walks, "_times", lambda factor, expr, span: expr)
        case "start":
            monkeypatch.setattr(counted_walks, "_is_zero", lambda expr: True)
        case "restore":
            monkeypatch.setattr(canonicalize, "_restore", lambda *_: iter(()))
        case _:
            monkeypatch.setattr(walked, "_timed_moves", lambda stmt: iter(()))
    with pytest.raises(AssertionError):
        assert_same(_pairs(), tmp_path)


def test_pointers_become_subscripts_of_what_they_start_from() -> None:
    text = "void f(int n, const int *a, int *b) { for (const int *p = a; p != a + n; ++p) *b++ = *p; }"
    new = rewritten(text, Canonicalize("f/for"))
    assert "for (long long p_k = 0; p_k < n; p_k++)" in new and "b[p_k] = a[p_k];" in new
    assert categories(new.replace("int *b", "int *restrict b"))["f/p_k"] == "parallel"


REFUSED = [
    ("for (double *p = a; p != a + n; p += 2) *p = 0; return 0; }", "compares no variable"),
    ("double *end = a + n; for (double *p = a; p != end; ++p) { *p = 0; if (m) end--; } return 0; }", "may change"),
    ("double *end = a + n; for (double *p = a; p < end; ++p) { *p = 0; end--; } return 0; }", "its bound moves"),
    ("for (double *p = a; p != a + n; ++p) { if (*p < 0) p++; *p = 0; } return 0; }", "p is written in the body"),
    ("double *p, **r = &p; for (p = a; p != a + n; ++p) **r = 0; return 0; }", "p may be read or changed elsewhere"),
    ("for (double *p = a; p >= b; --p) *p = 0; return 0; }", "below what it points into"),
    ("int i = 0; while (i < n) { if (a[i] < 0) continue; a[i] = 0; i++; } return 0; }", "left by continue"),
    ("int i = 0; while (i < n) { i++; if (a[i] < 0) break; } return i; }", "which is left after a move"),
    ("int i = 0; while (i < c[0]) { a[i] = 0; i++; } return i; }", "more than numbers and plain variables"),
    ("unsigned long k = n; while (k >= 0) { a[k] = 0; k--; } return 0; }", "does not go down to 0"),
    ("double *p = a; while (p < a + n) *p++ = p - a; return 0; }", "moved and used in one statement"),
    ("int i = 0; while (i < n) { if (m) goto out; a[i++] = 0; } b[0] = 1; out: return 0; }", "left or entered"),
    ("int i = 0; while (i < n && m > 0) { a[i] = i; if (a[i] > c[i]) i += m; } return 0; }", "no variable moves"),
    ("for (int i = 0; i < n; i++) a[i] = 0; return 0; }", "counted as it stands"),
]  # fmt: skip


@pytest.mark.parametrize("text, reason", REFUSED)
def test_refusals_say_why(text: str, reason: str) -> None:
    head = "double f(int n, int m, double *a, double *b, int *c) { "
    form = "while" if text.split("{")[0].find("while") >= 0 else "for"
    step = Canonicalize("f/i" if "int i = 0; i < n; i++" in text else f"f/{form}")
    verdict = verdict_of(head + text, step)
    assert isinstance(verdict, Unknown) and reason in verdict.reasons[0].text


def test_a_walk_that_may_start_behind_its_end_is_tested_first() -> None:
    text = "int f(int *p, int *end) { for (; p != end; ++p) if (*p == 3) return 1; return 0; }"
    verdict = verdict_of(text, Canonicalize("f/for"))
    assert isinstance(verdict, Proved) and [a.text for a in verdict.assumptions if hasattr(a, "text")] == ["p <= end"]
    assert isinstance(verdict_of(text, Canonicalize("f/for"), guards=False), Unknown)
