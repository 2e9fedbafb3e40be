"""Expansion: same results for all sizes, carried dependences gone, what is not private stays as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.steps.same_results import HEAD, assert_same, categories, rewritten, verdict_of
from warpsmith.base.verdict import Unknown
from warpsmith.loops.analysis.extremes import Cover, extreme
from warpsmith.loops.linear import Linear
from warpsmith.loops.steps.data import expand
from warpsmith.loops.steps.data.expand import Expand
from warpsmith.loops.writing import copies, expansion
from warpsmith.loops.writing.expansion import Shape
from warpsmith.poly.legality import privacy

_SIGNATURE = "double f(int n, int m, double *a, double *b, int *c)"
DOITGEN = """#include <stdlib.h>
static void doitgen(int nr, int nq, int np, double A[nr][nq][np], double C4[np][np], double sum[np])
{
    for (int r = 0; r < nr; r++)
        for (int q = 0; q < nq; q++) {
            for (int p = 0; p < np; p++) {
                sum[p] = 0.0;
                for (int s = 0; s < np; s++)
                    sum[p] += A[r][q][s] * C4[s][p];
            }
            for (int p = 0; p < np; p++)
                A[r][q][p] = sum[p];
        }
}
"""
LUDCMP = """#include <stdlib.h>
void lu(int n, double A[n][n])
{
    double w;
    int i, j, k;
    for (i = 0; i < n; i++) {
        for (j = 0; j < i; j++) {
            w = A[i][j];
            for (k = 0; k < j; k++)
                w -= A[i][k] * A[k][j];
            A[i][j] = w / A[j][j];
        }
        for (j = i; j < n; j++) {
            w = A[i][j];
            for (k = 0; k < i; k++)
                w -= A[i][k] * A[k][j];
            A[i][j] = w;
        }
    }
}
"""


def body(text: str) -> str:
    made = "double w = 3.5, t[20] = {0};\n    int i, j, k = 1;"
    return f"{HEAD}{_SIGNATURE}\n{{\n    {made}\n{text}\n    return RESULT;\n}}\n"


# (step, what the function does, what it returns)
CASES: list[tuple[Expand, str, str]] = [
    (Expand("f/i", "w"), "for (i = 0; i < n; i++) { w = a[i]; b[i] = w * w; }", "w"),
    (Expand("f/i", "w"), "for (i = 0; i < n; i++) { w = a[i]; b[i] = w * w; }", "0"),
    (Expand("f/i", "w"), "for (i = 2; i <= n; i++) { w = a[i]; b[i] = w * w; }", "w"),
    (Expand("f/i", "w"), "for (i = n - 1; i >= 0; i--) { w = a[i]; b[i] = w + 1; }", "w"),
    (Expand("f/i", "w"), "for (i = n; i > -4; i -= 3) { w = i; b[i + 10] = w + 1; }", "0"),
    (Expand("f/i", "w"), "for (i = m; i < n; i++) { w = i; b[i + 10] = w + 1; }", "w"),
    (Expand("f/i", "w"), "for (i = 30; i < n + 30; i++) { w = i; b[i] = w + 1; }", "w"),
    (Expand("f/i", "k"), "for (i = 0; i < n; i++) { k = c[i]; if (k > 2) { k = 5; } b[i] = k; }", "k"),
    (Expand("f/i", "w", 2), "for (i = 0; i < n; i++) for (j = 0; j < m; j++) { w = a[i + j]; b[i * m + j] = w; }", "w"),
    (Expand("f/i", "w", 2), "for (i = 0; i < n; i++) for (j = i; j < m; j++) { w = a[i + j]; b[i * 9 + j] = w; }", "0"),
    (Expand("f/i", "w", 2), "for (i = 1; i < n; i++) for (j = m; j > i; j--) { w = a[i + j]; b[i * 9 + j] = w; }", "0"),
    (Expand("f/i", "w", 2), "for (i = 0; i < n; i++) for (j = m; j > 2; j--) { w = a[i + j]; b[i * 9 + j] = w; }", "w"),
    (Expand("f/i/j", "w"), "for (i = 0; i < n; i++) for (j = m; j > 2; j--) { w = a[i + j]; b[i * 9 + j] = w; }", "w"),
    (Expand("f/i", "w", 2),
     "for (i = 0; i < n; i++) { for (j = 0; j < i; j++) { w = a[j]; b[i] += w; } "
     "for (j = i; j < n; j++) { w = a[j]; b[i] -= w; } }", "0"),
    (Expand("f/i", "t"),
     "for (i = 0; i < n; i++) { for (j = 0; j < m; j++) t[j] = a[i + j]; for (j = 0; j < m; j++) b[j] += t[j] * i; }",
     "t[3]"),
    (Expand("f/i", "t"),
     "for (i = 0; i < n; i++) { for (j = 1; j <= m; j++) t[j + 1] = a[i + j];"
     " for (j = 2; j < m; j++) b[j] += t[j] * i; }", "0"),
    (Expand("f/i", "t", 2),
     "for (i = 0; i < n; i++) for (k = 0; k < m; k++) { for (j = 0; j < 4; j++) t[j] = a[i + j * k]; "
     "for (j = 0; j < 4; j++) b[j] += t[3 - j]; }", "t[3] + t[0]"),
    (Expand("f/i", "t"), "for (i = 0; i < n; i++) if (m > 2) { t[0] = a[i]; t[1] = 2; b[i] = t[0] + t[1]; }", "0"),
    (Expand("f/i", "t"), "for (i = 0; i < n; i++) { t[0] = a[i]; t[m + 3] = 2; b[i] = t[0] + t[m + 3]; }", "0"),
    (Expand("f/i", "v"),
     "double v[3][5]; for (i = 0; i < n; i++) { for (j = 0; j < 15; j++) v[0][j] = a[i + j]; "
     "for (j = 0; j < 3; j++) for (k = 0; k < 5; k++) b[j] += v[j][k] * k; }", "0"),
    (Expand("f/i", "w"), "if (m > 1) for (i = 0; i < n; i++) { w = a[i]; b[i] = w; } else w = 2;", "w"),
    # declared in the body, and in memory above a loop around it
    (Expand("f/i", "v"), "for (i = 0; i < n; i++) { double v = a[i], u = v + 1; b[i] = v * u; }", "0"),
    (Expand("f/i", "v"), "for (i = 0; i < n; i++) { const float v = a[i] / 3; for (j = 0; j < m; j++) b[j] += v; }",
     "0"),
    (Expand("f/k/i", "v", above=1),
     "for (k = 0; k < n; k++) for (i = k + 1; i < n; i++) { double v = a[i] + k; for (j = k; j < n; j++) "
     "b[i * n + j] -= v * a[k * n + j]; }", "0"),
    (Expand("f/k/i", "w", above=1), "for (k = n; k > 0; k--) for (i = 0; i < k; i++) { w = a[i] + k; b[i] += w; }",
     "w"),
    (Expand("f/j/k/i", "v", above=2),
     "for (j = 0; j < m; j++) for (k = 0; k < j; k++) for (i = k; i <= j; i++) { int v = c[i] + k; b[i + j] += v; }",
     "0"),
    (Expand("f/while/i", "v", above=1), "while (k++ < 4) for (i = 0; i < n; i++) { int v = c[i] + k; b[i] += v; }",
     "0"),
]  # fmt: skip


def test_results_stay_the_same(tmp_path: Path) -> None:
    before = [body(text).replace("RESULT", result) for _, text, result in CASES]
    pairs = [(text, rewritten(text, step)) for text, (step, _, _) in zip(before, CASES, strict=True)]
    assert all("_all" in after for _, after in pairs)
    assert_same(pairs, tmp_path)


def test_doitgen_is_parallel_after_it_and_the_sum_is_copied_back() -> None:
    assert categories(DOITGEN)["doitgen/r/q"] != "parallel"
    after = rewritten(DOITGEN, Expand("doitgen/r", "sum", 2))
    found = categories(after)
    assert (found["doitgen/r"], found["doitgen/r/q"], found["doitgen/r/q/p"]) == ("parallel",) * 3
    assert "sum[e0] = sum_all[" in after


def test_ludcmps_scalar_over_both_loops() -> None:
    after = rewritten(LUDCMP, Expand("lu/i", "w", 2))
    assert after.count("w_all[(long long)i * n + j]") == 6
    assert categories(after)["lu/i/j#2"] == "parallel"


REFUSED = [
    ("for (i = 0; i < n; i++) { b[i] = w; w = a[i]; }", "w", 1, "may read what an earlier iteration of i left in w"),
    ("for (i = 0; i < n; i++) { if (a[i] > 0) w = a[i]; b[i] = w; }", "w", 1, "may read what an earlier iteration"),
    ("for (i = 0; i < n; i++) { for (j = 0; j < i; j++) w = j; b[i] = w; }", "w", 1, "may read what an earlier"),
    ("for (i = 0; i < n; i++) { if (i > 2) { w = a[i]; b[i] = w; } }", "w", 1, "needed after the loop"),
    ("for (i = 0; i < n; i++) { w = a[i]; if (w > 3) break; b[i] = w; }", "w", 1, "may be left early"),
    ("for (i = 0; i < n; i++) { w = a[i]; double *p = &w; b[i] = *p; }", "w", 1, "address"),
    ("for (i = 0; i < n; i++) { for (j = 0; j < m; j++) t[j] = 0; for (j = 0; j <= m; j++) b[j] += t[j]; }", "t", 1,
     "may read what an earlier iteration"),
    ("for (i = 0; i < n; i++) { b[c[i]] = 0; a[i] = b[c[i]]; }", "b", 1, "not a range"),
    ("double *p = t; for (i = 0; i < n; i++) { p[0] = a[i]; b[i] = t[0]; }", "t", 1, "may read what an"),
    ("for (i = 0; i < n; i++) { w = 2; for (j = 0; j < m; j++) b[j] = w; }", "w", 2, "is used outside the loops"),
    ("for (i = 0; i < n; i++) { w = a[i]; b[i] = w; }", "v", 1, "uses no variable v"),
    ("for (i = 0; i < n; i++) { w = a[i]; b[i] = w; }", "w", 0, "at least 1"),
    ("for (i = 0; i < n * m; i++) { w = a[i % 9]; b[i % 9] = w; }", "w", 1, "not a sum"),
    ("for (i = 0; i < n; i++) { double v; v = a[i]; b[i] = v; }", "v", 1, "already has its own v"),
    ("for (i = 0; i < n; i++) { double v = a[i], *p = &v; b[i] = *p; }", "v", 1, "address"),
]  # fmt: skip


@pytest.mark.parametrize("text, name, depth, reason", REFUSED)
def test_refusals_say_why(text: str, name: str, depth: int, reason: str) -> None:
    verdict = verdict_of(body(text).replace("RESULT", "w + t[1]"), Expand("f/i", name, depth))
    assert isinstance(verdict, Unknown)
    assert reason in verdict.reasons[0].text


ABOVE = [
    ("for (k = 0; k < n; k++) { if (k > m) break; for (i = 0; i < n; i++) { int v = k; b[i] += v; } }", "left early"),
    ("for (k = 0; k < n; k++) { m = k; for (i = 0; i < m; i++) { int v = k; b[i] += v; } }", "changes in the loop"),
    ("for (k = 0; k < n; k++) { int l = n - k; for (i = 0; i < l; i++) { int v = k; b[i] += v; } }", "not known above"),
    ("for (k = 0; k * k < n; k++) for (i = 0; i < k; i++) { int v = k; b[i] += v; }", ""),
    ("for (k = 0; k < 3; k++) for (i = 0; i < 4; i++) { int v[2]; v[0] = k; b[i] += v[0]; }", ""),
]


@pytest.mark.parametrize("text, reason", ABOVE)
def test_memory_above_a_loop_needs_a_size_that_is_known_there(text: str, reason: str) -> None:
    inner = "f/for/i" if "k * k" in text else "f/k/i"
    verdict = verdict_of(body(text).replace("RESULT", "0"), Expand(inner, "v", above=1))
    assert isinstance(verdict, Unknown)
    assert reason in verdict.reasons[0].text


def test_a_few_copies_are_a_local_array_where_there_is_no_malloc() -> None:
    text = body("for (i = 0; i < 60; i++) { double v = a[i]; b[i] = v; }").replace("RESULT", "0").replace(HEAD, "")
    after = rewritten(text, Expand("f/i", "v"))
    assert "double v_all[60];" in after and "malloc" not in after
    many = verdict_of(text.replace("i < 60", "i < 6000"), Expand("f/i", "v"))
    assert isinstance(many, Unknown)


def test_without_the_header_there_is_no_malloc() -> None:
    text = body(CASES[0][1]).replace("RESULT", "0").replace(HEAD, "")
    verdict = verdict_of(text, Expand("f/i", "w"))
    assert isinstance(verdict, Unknown)
    assert verdict.reasons[0].legal_if == ("#include <stdlib.h>",)


# --- the tests can fail: bugs that they catch


def _caught(tmp_path: Path) -> bool:
    try:
        test_results_stay_the_same(tmp_path)
        for refused in REFUSED:
            test_refusals_say_why(*refused)
    except AssertionError:
        return True
    return False


@pytest.mark.slow
def test_a_size_without_the_last_value_is_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def short(cover: Cover) -> Linear:
        return cover.high.minus(expansion.origin_of(cover))

    monkeypatch.setattr(copies, "slots_of", short)
    assert _caught(tmp_path)


@pytest.mark.slow
def test_a_size_of_the_first_run_only_is_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(copies, "extreme", lambda form, covers, greatest: extreme(form, covers, greatest=not greatest))
    assert _caught(tmp_path)


@pytest.mark.slow
def test_forgetting_the_value_after_the_loop_is_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(expand, "read_after", lambda *_: False)
    assert _caught(tmp_path)


@pytest.mark.slow
def test_trusting_every_write_is_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(privacy._Question, "find_exposed", lambda _: iter(()))
    assert _caught(tmp_path)


@pytest.mark.slow
def test_a_last_iteration_that_may_write_less_is_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(expand, "settles", lambda *_: True)
    assert _caught(tmp_path)


@pytest.mark.slow
def test_elements_that_share_a_slot_are_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def one_element(self: Shape) -> tuple[Cover, ...]:
        return (*self.levels, *(Cover(Linear(), Linear()) for _ in self.dims))

    monkeypatch.setattr(Shape, "covers", property(one_element))
    assert _caught(tmp_path)
