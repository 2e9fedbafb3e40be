"""Subscripts taken apart by numbers."""

from __future__ import annotations

import pytest

from tests.poly.patterns.test_nest import spaces


@pytest.mark.parametrize(
    ("subscript", "rows"),
    [
        ("128*i + j", [(1, 0), (0, 1)]),
        ("128*i + 2*j", [(1, 0), (0, 2)]),
        # i < 60, j < 64: the digit of 64 is i
        ("64*j + i", [(0, 1), (1, 0)]),
        ("32*i + j", [(32, 1)]),
        ("128*i + j - 1", [(128, 1)]),
        ("128*i + 128 + j", [(1, 0), (0, 1)]),
        ("128*j + 2*i + 1", [(0, 1), (2, 0)]),
        ("2*i", [(2, 0)]),
    ],
)
def test_digits_that_are_proved_are_dimensions(subscript: str, rows: list[tuple[int, ...]]) -> None:
    text = f"""void f(double *a) {{
      for (int i = 0; i < 60; i++) for (int j = 0; j < 64; j++) a[{subscript}] = 0; }}"""
    ((found,),) = (space.references for space in spaces(text, "f/i"))
    assert [row.counters for row in found.rows] == rows


def test_three_digits() -> None:
    text = """void f(int n, float *a) {
      for (int i = 0; i < n; i++) for (int j = 0; j < 8; j++) for (int k = 0; k < 4; k++) a[32*i + 4*j + k] = 0; }"""
    ((found,),) = (space.references for space in spaces(text, "f/i"))
    assert [row.counters for row in found.rows] == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    assert found.classes == ("row-major",)


def test_a_whole_array_that_a_call_is_given() -> None:
    text = """void g(double *); void f(int n, double *a) { for (int i = 0; i < n; i++) g(a); }"""
    ((found,),) = (space.references for space in spaces(text, "f/i"))
    assert (found.text, found.rows[0].text, found.classes) == ("a[…]", "any element", ("irregular",))
