"""Which loops of a thread lanes may share, and why others are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.analyzed import analyzed
from warpsmith.base.verdict import Reason
from warpsmith.offload.mapping.sharing.judged_loops import (
    JudgedLoop,
    SharingQuestion,
    find_stores,
    judge_loop,
    own_variables,
)
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.tree.nodes import For
from warpsmith.tree.walk import loops

HEAD = (
    "double g(double); void f(int n, unsigned m, double A[restrict n][n], double *restrict y,"
    " const double *restrict x, const int *restrict c, double w)\n"
)


def judged(body: str, folder: Path, *, independent: bool = True, precise: bool = False) -> JudgedLoop | Reason:
    """Return what is said of the loop over j in a thread's body."""
    text = f"{HEAD}{{ for (int i = 0; i < n; i++) {{ {body} }} }}\n"
    program = analyzed(text, folder)
    function = program.request().facts.function
    (head, *_), (loop, *_) = (
        [one for one, _ in loops(function.body) if isinstance(one, For) and one.variable.name == name] for name in "ij"
    )
    own = own_variables(head.body, ())
    stores = find_stores(head.body, own, Summaries.of(program.request().program))
    if isinstance(stores, Reason):
        return stores
    return judge_loop(loop, SharingQuestion(head.body, own, stores, lambda _: independent, precise))


@pytest.mark.parametrize(
    ("body", "combined"),
    [
        ("double s = 0; for (int j = 0; j < n; j++) s += A[i][j]; y[i] = s;", ["+"]),
        ("double s = 0; for (int j = c[i]; j <= n; j += 3) s -= A[i][j]; y[i] = s;", ["+"]),
        ("double s = 1, t; for (int j = 0; j < n; j++) { t = x[j] * 2; s *= t; } y[i] = s;", ["*"]),
        ("double s = 0; int q = 0; for (int j = 0; j < n; j++) { s += x[j]; q |= c[j]; } y[i] = s + q;", ["+", "|"]),
        ("double s = 0; for (int j = 0; j < n; j++) { if (c[j]) continue; s += x[j]; } y[i] = s;", ["+"]),
        ("double s = x[0]; for (int j = 1; j < n; j++) if (x[j] > s) s = x[j]; y[i] = s;", ["max"]),
        ("double s = 0; for (int j = 0; j < n; j++) for (int k = 0; k < j; k++) s += A[j][k]; y[i] = s;", ["+"]),
        ("for (int j = 0; j < n; j++) A[i][j] = x[j];", []),
    ],
)
def test_what_lanes_may_share(body: str, combined: list[str], tmp_path: Path) -> None:
    found = judged(body, tmp_path)
    assert isinstance(found, JudgedLoop)
    assert sorted(one.op for one in found.together) == combined and found.stores == (not combined)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("double s = 0; for (int j = n; j > 0; j--) s += x[j]; y[i] = s;", "does not count up"),
        ("double s = 0; for (int j = -1; j < m; j++) s += c[j + 1]; y[i] = s;", "a signed number with an unsigned one"),
        ("double s = 0; for (short j = 0; j < 9; j++) s += x[j]; y[i] = s;", "narrow counter"),
        ("double s = 0; for (int j = 0; j < n; j++) { if (x[j] > 3) break; s += x[j]; } y[i] = s;", "end early"),
        ("double s = 0, t = 0; for (int j = 0; j < n; j++) { s += t; t = x[j]; } y[i] = s;", "'t' goes on"),
        ("double s = 0, t = 0; for (int j = 0; j < n; j++) { t = x[j]; s += t; } y[i] = s + t;", "'t' goes on"),
        ("double s = 0; int j; for (j = 0; j < n; j++) s += x[j]; y[i] = s + j;", "'j' goes on"),
        ("double s = 0; for (int j = 0; j < n; j++) s = x[j] - s; y[i] = s;", "'s' goes on"),
        ("int q = 0; for (int j = 0; j < n; j++) if (x[j] > y[i]) q = j; y[i] = q;", "'q' goes on"),
        ("double t[4]; for (int j = 0; j < 4; j++) t[j] = x[j]; y[i] = t[0];", "an array of each thread's own"),
        ("for (int j = 0; j < n; j++) x[j] > 3 ? 1 : 0;", "combines nothing"),
        ("const double *p = x + i; double s = 0; for (int j = 0; j < n; j++) s += p[j]; y[i] = s;", "'p' is a pointer"),
        ("double s = 0; for (int j = 0; j < n; j++) s += g(x[j]); y[i] = s;", "does more than compute"),
        ("double s = 0; for (int j = 0; j < n; j++) s += x[j]; y[i] = y[i + 1] = s;", "besides"),
        ("double s = 0; for (int j = 0; j < n; j++) s += x[j]; if ((y[i] = s) > 1) s = 0;", "inside an expression"),
    ],
)
def test_what_lanes_do_not_share(body: str, why: str, tmp_path: Path) -> None:
    found = judged(body, tmp_path)
    assert isinstance(found, Reason) and why in found.text


def test_what_depends_on_the_question(tmp_path: Path) -> None:
    store = "for (int j = 1; j < n; j++) A[i][j] = A[i][j - 1] * 2;"
    refused = judged(store, tmp_path, independent=False)
    assert isinstance(refused, Reason) and "not known to be independent" in refused.text
    total = "double s = 0; for (int j = 0; j < n; j++) s += x[j]; y[i] = s;"
    refused = judged(total, tmp_path, precise=True)
    assert isinstance(refused, Reason) and "--precise-fp" in refused.text
    largest = "double s = x[0]; for (int j = 1; j < n; j++) if (x[j] > s) s = x[j]; y[i] = s;"
    assert isinstance(judged(largest, tmp_path, precise=True), JudgedLoop)
