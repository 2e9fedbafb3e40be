"""Expressions that offload makes, and the extremes of bounds over the counters of enclosing loops."""

from __future__ import annotations

import itertools

import pytest

from tests.offload.analyzed import Analyzed, analyzed
from tests.offload.mapping.test_ranges import value
from warpsmith.base.source import SourceFile, Span
from warpsmith.offload.expressions import binary, extreme, name, number, shifted, wide
from warpsmith.tree.nodes import Cast, Expr
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.types import INT, LONG_LONG

SPAN = Span(SourceFile("a.c", " "), 0, 1)
BOUNDS = (
    "2 * i - j", "m - (i + j)", "-i * 3", "(i + j) / 2", "i < j ? i : j", "i > m ? i : m", "j - (i < m ? i : m)",
    "i - -j", "(long)i * -2", "(m <= i ? i : m) + 1", "i < 2 ? j : m",
)  # fmt: skip
UNSEEN = ("i * j", "i % 3", "i / m", "i / -2", "m / i", "(short)i", "i & 3", "b[i]", "i << 1")
BODY = "".join(f"    n = {expr};\n" for expr in (*BOUNDS, *UNSEEN))
TEXT = f"void f(int n, int m, const int *b, int i, int j) {{\n{BODY}}}"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    return analyzed(TEXT, tmp_path_factory.mktemp("bounds"))


def bound(program: Analyzed, text: str, most: bool) -> Expr | None:
    """Return the extreme of an expression over i in [n, n + 2] and j in [-1, 2]."""
    i, j, n = (program.symbol(word) for word in "ijn")
    low = name(n, SPAN)
    ranges = {i: (low, shifted(low, 2)), j: (number(-1, SPAN), number(2, SPAN))}
    return extreme(program.expr(text), ranges, most)


@pytest.mark.parametrize("text", BOUNDS)
def test_extremes_bound_every_value_that_is_taken(text: str, program: Analyzed) -> None:
    least, greatest = bound(program, text, most=False), bound(program, text, most=True)
    assert least is not None and greatest is not None
    once = "?" not in text
    for n, m in itertools.product((-2, 0, 3), (-3, 1, 4)):
        taken = [value(program.expr(text), {"i": i, "j": j, "m": m}) for i in range(n, n + 3) for j in range(-1, 3)]
        given = {"n": n, "m": m}
        low, high = value(least, given), value(greatest, given)
        assert low <= min(taken) and max(taken) <= high
        # each variable stands there once: the bound is reached
        assert not once or (low, high) == (min(taken), max(taken))


@pytest.mark.parametrize("text", UNSEEN)
def test_what_is_not_seen_to_be_monotone_has_none(text: str, program: Analyzed) -> None:
    assert bound(program, text, most=True) is None


def test_what_names_no_counter_stays_as_it_is(program: Analyzed) -> None:
    part = program.expr("m")
    assert bound(program, "m", most=True) is part


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
    assert shifted(m, 0) is m
    assert [print_expr(shifted(m, by)) for by in (2, -2)] == ["(long long)m + 2", "(long long)m - 2"]
    assert print_expr(shifted(number(5, SPAN), -7)) == "-2"
