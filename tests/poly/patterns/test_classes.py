"""The names of patterns."""

from __future__ import annotations

import pytest

from tests.poly.patterns.test_nest import spaces


@pytest.mark.parametrize(
    ("reference", "classes"),
    [
        ("a[i][j]", "row-major"), ("a[j][i]", "column-major"), ("a[i - 1][j + 2]", "row-major, offset by (-1, 2)"),
        ("a[i][n - 1 - j]", "row-major, reversed in dimension 2"), ("a[i][2 * j]", "row-major, strided by 2"),
        ("a[i + j][j]", "skewed"), ("a[j][j]", "diagonal"), ("a[i][0]", "column"), ("a[0][j]", "row"),
        ("a[0][0]", "one element"), ("x[j]", "row"), ("x[n - j]", "row, reversed"),
        ("x[j + n]", "row, offset by a parameter"), ("x[m * j]", "column"),
        ("x[k[j]]", "irregular"), ("c[j][i][l]", "permuted"), ("c[l][j][i]", "column-major"),
        ("a[j][n - 1 - 2 * i]", "column-major, reversed in dimension 2, strided by 2"),
    ],
)  # fmt: skip
def test_classes(reference: str, classes: str) -> None:
    text = f"""void f(int n, int m, double a[n][n], double c[n][n][n], double *x, const int *k) {{
      for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int l = 0; l < n; l++) {reference} = 0; }}"""
    (space,) = spaces(text, "f/i")
    (found,) = (r for r in space.references if r.writes)
    assert ", ".join(found.classes) == classes


def test_bounds_that_follow_a_counter_make_a_triangle() -> None:
    text = """void f(int n, double a[n][n], double *x) {
      for (int i = 0; i < n; i++) for (int j = i; j < n; j++) a[i][j] = x[i]; }"""
    (space,) = spaces(text, "f/i")
    assert {r.text: r.classes for r in space.references} == {"a[i][j]": ("row-major", "triangular"), "x[i]": ("row",)}
