"""Rows of access matrices."""

from __future__ import annotations

from tests.poly.patterns.test_nest import spaces


def test_columns_of_parameters() -> None:
    text = """void f(int n, int m, int p, double *x) {
      for (int i = 0; i < n; i++) x[3*i + 2*m - p + 4] = x[m*p + i]; }"""
    (space,) = spaces(text, "f/i")
    rows = {r.text: r.rows[0] for r in space.references}
    assert sorted(space.parameters) == ["m", "m*p", "p"]
    first, second = rows["x[3*i + 2*m - p + 4]"], rows["x[m*p + i]"]
    assert dict(zip(space.parameters, first.parameters, strict=True)) == {"m": 2, "p": -1, "m*p": 0}
    assert dict(zip(space.parameters, second.parameters, strict=True)) == {"m": 0, "p": 0, "m*p": 1}
    assert (first.counters, first.constant, second.counters, second.constant) == ((3,), 4, (1,), 0)


def test_a_coefficient_of_parameters_moves_whatever_they_are() -> None:
    # two references that no layout has in common: the sum stays one row, and counts for two
    text = """void f(int n, int m, double *x) {
      for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[i*m + 2*j] = x[i*n + j]; }"""
    (space,) = spaces(text, "f/i")
    assert all(r.rank == 2 and not r.reuse for r in space.references)
