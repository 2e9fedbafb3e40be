"""The length of an array in a type is evaluated where the type is named: in a declaration, a cast, a sizeof."""

from __future__ import annotations

import pytest

from tests.poly.analysis import facts_of
from warpsmith.base.verdict import Proved, Refuted

_SCALAR = [
    "x[i] = sizeof(int[n]);",
    "x[i] = ((double (*)[n])y)[1][0];",
    "int t[n]; x[i] = sizeof(t);",
    "x[i] = sizeof(char[4][n]);",
]


@pytest.mark.parametrize("body", _SCALAR)
def test_a_length_reads_its_variable(body: str) -> None:
    head = "void f(int m, double *restrict x, double *restrict y, int *restrict p) { int n = 1;"
    facts = facts_of(f"{head} for (int i = 0; i < m; i++) {{ {body} n = p[n]; }} }}")["f/i"]
    assert isinstance(facts.verdict, Refuted)
    assert any("flow dependence on n" in reason.text for reason in facts.reasons)


def test_a_length_that_changes_its_variable_writes_it() -> None:
    facts = facts_of("void f(int m, double *x) { int n = 1; for (int i = 0; i < m; i++) x[i] = sizeof(char[n++]); }")
    assert isinstance(facts["f/i"].verdict, Refuted)


@pytest.mark.parametrize(
    "body", ["int t[c[i]];", "long t = sizeof(int[c[i]]);", "double *z = (double *)(double (*)[c[i]])a;"]
)
def test_a_length_reads_memory(body: str) -> None:
    text = f"void f(int m, double *a, int *c) {{ for (int i = 0; i < m - 1; i++) {{ {body} c[i + 1] = 4; }} }}"
    assert isinstance(facts_of(text)["f/i"].verdict, Refuted)


def test_a_constant_size_reads_nothing() -> None:
    text = "void f(int m, double *x) { int n = 1; for (int i = 0; i < m; i++) { x[i] = sizeof n; n = i; } }"
    assert isinstance(facts_of(text)["f/i"].verdict, Proved)
