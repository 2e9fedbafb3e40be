"""Facts to assert: candidates, but not what the program itself shows to be false."""

from __future__ import annotations

import pytest

from tests.loops.remedies.proposals import known
from warpsmith.loops.remedies.assumptions import assumptions

SCATTER = "void f(int n, double *restrict a, const int *restrict p)\n{ for (int i = 0; i < n; i++) BODY }\n"


def said(text: str) -> list[str]:
    facts, loop = known(f"#include <stdlib.h>\n{text}", "f/i")
    return [" ".join(one.text for one in group) for group in assumptions(facts, loop)]


@pytest.mark.parametrize(
    ("body", "tables"),
    [
        ("a[p[i]] = i;", ["injective(p)"]),
        ("a[2 * p[i] + 1] = i;", ["injective(p)"]),
        # a histogram: its keys repeat as a rule
        ("a[p[i]] += i;", []),
        ("a[p[i]]++;", []),
        ("a[p[i]] = a[p[i]] + 1;", []),
        ("a[i] = p[i];", []),
    ],
)
def test_tables_that_choose_what_is_written(body: str, tables: list[str]) -> None:
    assert said(SCATTER.replace("BODY", body)) == tables


CALLER = "void g(int n, double *a, int *q) {{ {} f(n, a, q); }}\n"


@pytest.mark.parametrize(
    ("filled", "kept"),
    [
        ("for (int k = 0; k < n; k++) q[k] = n - k;", True),
        ("for (int k = 0; k < n; k++) q[k] = q[k] + k;", True),
        ("for (int k = 0; k < n; k++) q[k] = k / 2;", False),
        ("for (int k = 0; k < n; k++) q[k] = k % 7;", False),
        ("for (int k = 0; k < n; k++) q[k] = k & 7;", False),
        ("for (int k = 0; k < n; k++) q[k] = 3;", False),
        ("for (int k = 0; k < n; k++) q[k] = rand();", False),
        ("for (int k = 0; k < n; k++) q[k] = k > 3 ? k : 3;", False),
        ("q[0] = 3;", True),
        ("int t[4] = {0, 2, 1, 3}; q = t;", True),
    ],
)
def test_what_the_program_fills_a_table_with(filled: str, kept: bool) -> None:
    text = SCATTER.replace("BODY", "a[p[i]] = i;") + CALLER.format(filled)
    assert said(text) == (["injective(p)"] if kept else [])


@pytest.mark.parametrize(
    ("table", "kept"),
    [
        ("int t[4] = {0, 2, 1, 3};", True),
        ("int t[4] = {0, 2, 2, 3};", False),
        ("int *t = calloc(n, sizeof *t);", False),
        ("int *t = malloc(n * sizeof *t);", True),
        ("int *t = calloc(n, sizeof *t); for (int k = 0; k < n; k++) t[k] = k;", True),
    ],
)
def test_a_table_of_the_caller(table: str, kept: bool) -> None:
    text = SCATTER.replace("BODY", "a[p[i]] = i;") + f"void g(int n, double *a) {{ {table} f(n, a, t); }}\n"
    assert said(text) == (["injective(p)"] if kept else [])


@pytest.mark.parametrize(
    ("call", "kept"),
    [("", True), ("f(n, a, b);", True), ("f(n, a, a);", False), ("f(n, a + 1, a);", False), ("f(n, a, &a[2]);", False)],
)
def test_pointers_that_some_call_passes_one_object_for(call: str, kept: bool) -> None:
    text = "void f(int n, double *x, double *y) { for (int i = 0; i < n; i++) x[i] = y[i + 1]; }\n"
    found = said(f"{text}void g(int n, double *a, double *b) {{ {call} }}\n")
    assert found == (["noalias(x, y)"] if kept else [])


def test_pointers_that_are_only_read_may_overlap() -> None:
    text = "void f(int n, double *restrict x, double *y, double *z)\n"
    assert said(text + "{ for (int i = 1; i < n; i++) x[i] = x[i - 1] + y[i] + z[i]; }\n") == []
