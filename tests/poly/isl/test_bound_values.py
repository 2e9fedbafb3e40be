"""Bounds are equal where their products and sums are, in 64 bits; what a narrower type may have cut is not unfolded."""

from __future__ import annotations

from tests.poly.expressions import expressions
from warpsmith.poly.isl.bound_values import constant, same_value

PARAMETERS = "int n, int m, long long w, unsigned u, long *a"
EQUAL = [
    ("w * w - 1 + 1", "w * w"),
    ("(long long)n * m", "(long long)m * n"),
    ("2 * (w + 3) - 6", "w + w"),
    ("(long long)u - 1 + 1", "(long long)u"),
    ("-(w - n)", "(long long)n - w"),
    ("n ? w : m", "n ? w : m"),
    ("a[n] + 0", "a[n]"),
    ("n + 1", "n + 1"),
]
OTHER = [
    ("w", "w + 1"),
    ("(long long)n", "(long long)m"),
    # int arithmetic is not unfolded: its sums may have another type's range
    ("(long long)(n + 1)", "(long long)n + 1"),
    ("u - u", "0"),
    ("n ? w : m", "n ? m : w"),
    # an unsigned 32-bit value is not the int of the same bits, nor does int hold a long long
    ("(int)w", "w"),
    ("(int)u", "u"),
    ("-n + n", "0"),
]


def test_plainly_equal_bounds() -> None:
    flat = expressions(PARAMETERS, *(text for pair in (*EQUAL, *OTHER) for text in pair))
    pairs = list(zip(flat[::2], flat[1::2], strict=True))
    for texts, (left, right) in zip(EQUAL, pairs[: len(EQUAL)], strict=True):
        assert same_value(left, right) and same_value(right, left), texts
    for texts, (left, right) in zip(OTHER, pairs[len(EQUAL) :], strict=True):
        assert not same_value(left, right) and not same_value(right, left), texts


CONSTANTS: dict[str, int | None] = {
    "3 + 4 * (2 - 5)": -9,
    "-SIDE": -7,
    "(long)(SIDE * 2)": 14,
    "n": None,
    "SIDE + n": None,
    "n - 1": None,
    "-n": None,
    "7 / 2": None,
    "(double)3": None,
    "0 * n": None,
}


def test_values_of_what_is_written_in_numbers() -> None:
    found = expressions("int n", *CONSTANTS, head="enum { SIDE = 7 };")
    assert dict(zip(CONSTANTS, map(constant, found), strict=True)) == CONSTANTS
