"""Expressions of clauses: their trees, types and constant values."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile, Span
from warpsmith.front.teams.clause_text import constant_of, read_expression
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.types import DOUBLE, INT, SIZE_T, Scalar, Symbol

PLACE = Span(SourceFile("a.c", ""), 0, 0)
NAMES = {
    "n": Symbol("n", "n", INT, "parameter"),
    "size": Symbol("size", "size", SIZE_T, "parameter"),
    "eight": Symbol("eight", "eight", INT, "local", value=8),
    "x": Symbol("x", "x", DOUBLE, "parameter"),
}


@pytest.mark.parametrize(
    ("text", "printed", "type", "value"),
    [
        ("64", "64", INT, 64),
        ("(n + 255) / 256", "(n + 255) / 256", INT, None),
        ("size / eight", "size / eight", SIZE_T, None),
        ("eight * 4 - 1", "eight * 4 - 1", INT, 31),
        ("(eight + 7) % 4", "(eight + 7) % 4", INT, 3),
        ("1 << eight", "1 << eight", INT, 256),
        ("-eight / 3", "-eight / 3", INT, None),
        ("1 << 31", "1 << 31", INT, None),
        ("eight / (eight - 8)", "eight / (eight - 8)", INT, None),
    ],
)
def test_expressions_are_read(text: str, printed: str, type: Scalar, value: int | None) -> None:
    made = read_expression(text, PLACE, NAMES.get)
    assert made is not None
    assert (print_expr(made), made.type, constant_of(made)) == (printed, type, value)


@pytest.mark.parametrize("text", ["m", "f(n)", "n ? 1 : 2", "x", "1.5", "n, 2", "a[0]", "True", ""])
def test_what_is_no_integer_arithmetic_is_not_read(text: str) -> None:
    assert read_expression(text, PLACE, NAMES.get) is None
