"""Reuse between references, and between arrays."""

from __future__ import annotations

from tests.poly.patterns.test_nest import spaces


def test_a_stencil_leaves_each_element_to_the_next_reference() -> None:
    text = """void f(int n, double *a, double *b) {
      for (int t = 0; t < n; t++) for (int i = 1; i < n - 1; i++) b[i] = a[i-1] + a[i] + a[i+1]; }"""
    (space,) = spaces(text, "f/t")
    names = [r.text for r in space.references]
    found = [(names[g.earlier], names[g.later], g.direction) for g in space.groups]
    assert found == [("a[i+1]", "a[i]", (0, 1)), ("a[i]", "a[i-1]", (0, 1))]


def test_parameters_in_any_order_are_one_sum() -> None:
    text = """void f(int n, int m, double *a, double *b) {
      for (int i = 1; i < n; i++) b[i] = a[i + n + m] + a[m - 1 + n + i]; }"""
    (space,) = spaces(text, "f/i")
    assert [g.direction for g in space.groups] == [(1,)]


def test_elements_that_never_meet_are_no_reuse() -> None:
    text = "void f(int n, double *a) { for (int i = 0; i < n; i++) a[2*i] = a[2*i + 1]; }"
    (space,) = spaces(text, "f/i")
    assert space.groups == ()


def test_one_nest_serves_arrays_that_are_used_again_along_one_direction() -> None:
    text = """void f(int n, double a[n][n], double *x, double *y) {
      for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] += x[j] * y[j]; }"""
    (space,) = spaces(text, "f/i")
    assert space.one_nest == ((1, 0),) and [(a.first, a.second) for a in space.alike] == [("x", "y")]


def test_rows_are_alike_at_one_dimension_only() -> None:
    text = """void f(int n, double a[n][n], double b[n][n]) {
      for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) a[i][k] += b[k][j]; }"""
    (space,) = spaces(text, "f/i")
    assert space.alike == () and space.one_nest == ()
