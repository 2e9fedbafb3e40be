"""Expressions that offload makes."""

from __future__ import annotations

import pytest

from tests.offload.analyzed import Analyzed, analyzed
from warpsmith.base.source import SourceFile, Span
from warpsmith.offload.expressions import binary, number, shift_expression, wide
from warpsmith.tree.nodes import Cast
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.types import INT, LONG_LONG

SPAN = Span(SourceFile("a.c", " "), 0, 1)
TEXT = "void f(int n, int m) { n = m; }"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    return analyzed(TEXT, tmp_path_factory.mktemp("bounds"))


@pytest.mark.parametrize(("of", "text"), [(0, "0"), (-3, "-3"), (2**31 - 1, "2147483647"), (2**31, "2147483648")])
def test_a_number_has_the_type_that_holds_it(of: int, text: str) -> None:
    made = number(of, SPAN)
    assert print_expr(made) == text
    assert made.type == (LONG_LONG if of >= 2**31 else INT)


def test_zeros_that_are_added_are_left_out(program: Analyzed) -> None:
    m, zero = program.expr("m"), number(0, SPAN)
    assert binary("+", m, zero) is m and binary("-", m, zero) is m and binary("+", zero, m) is m
    assert print_expr(binary("-", zero, m)) == "0 - m" and print_expr(binary("*", m, zero)) == "m * 0"


def test_sums_are_made_in_64_bits(program: Analyzed) -> None:
    m = program.expr("m")
    made = wide(m)
    assert isinstance(made, Cast) and made.type == LONG_LONG
    assert wide(made) is made and wide(zero := number(0, SPAN)) is zero
    assert shift_expression(m, 0) is m
    assert [print_expr(shift_expression(m, by)) for by in (2, -2)] == ["(long long)m + 2", "(long long)m - 2"]
    assert print_expr(shift_expression(number(5, SPAN), -7)) == "-2"
