"""Polynomials and conditions as host expressions: right for every value of the user's variables, and readable."""

from __future__ import annotations

import itertools

import pytest

from tests.poly.host_value import value
from tests.poly.isl.evaluation import holds, value_of
from warpsmith.base.source import SourceFile, Span
from warpsmith.poly.isl.formula import FALSE, TRUE, And, Formula, Or, at_least, both, equal
from warpsmith.poly.isl.host import (
    HostError,
    condition_expr,
    condition_text,
    floored_expr,
    integer,
    operation,
    polynomial_expr,
    product,
    product_expr,
)
from warpsmith.poly.isl.polynomial import ONE, ZERO, Polynomial, atom, constant
from warpsmith.poly.isl.space import Floored
from warpsmith.poly.isl.vocabulary import AtomVocabulary
from warpsmith.tree.nodes import Binary, Cast, Expr, Literal, Name
from warpsmith.tree.printing.printer import nothing, print_expr
from warpsmith.tree.types import DOUBLE, INT, LONG_LONG, UNSIGNED_LONG, Scalar, Symbol

SPAN = Span(SourceFile("none.c", ""), 0, 0)


def _name(name: str, type: Scalar) -> Name:
    return Name(span=SPAN, type=type, symbol=Symbol(name, name, type, "parameter"))


N, M, U, W = _name("n", INT), _name("m", INT), _name("u", UNSIGNED_LONG), _name("w", LONG_LONG)


class Words:
    """A vocabulary with the variables of N, M, U, W, and an array's extent that is not written anywhere."""

    def __init__(self) -> None:
        self.vocabulary = AtomVocabulary()
        self.n, self.m, self.u, self.w = (self._of(x) for x in (N, M, U, W))
        self.hidden = atom(self.vocabulary.parameter("?", "hidden", None, None))

    def _of(self, expr: Expr) -> Polynomial:
        assert isinstance(expr, Name) and isinstance(expr.type, Scalar)
        return atom(self.vocabulary.parameter(expr.symbol, expr.symbol.name, expr, expr.type))

    def values(self, n: int, m: int) -> dict[str, int]:
        return {**dict.fromkeys(self.n.atoms(), n), **dict.fromkeys(self.m.atoms(), m)}

    def text(self, expr: Expr) -> str:
        return print_expr(expr, nothing)


@pytest.fixture
def words() -> Words:
    return Words()


def test_numbers() -> None:
    assert isinstance(small := integer(7, SPAN), Literal) and (small.type, small.text) == (INT, "7")
    assert print_expr(integer(2**31, SPAN)) == "2147483648LL" and integer(2**31, SPAN).type == LONG_LONG
    assert isinstance(integer(-4, SPAN), Binary) and value(integer(-4, SPAN), {}) == -4
    assert integer(-(2**31), SPAN).type == LONG_LONG, "as a literal it is none of int"


def test_operations_have_the_type_of_c() -> None:
    wide = Cast(span=SPAN, type=LONG_LONG, operand=N)
    assert operation("<", N, M).type == INT and operation("+", N, W).type == LONG_LONG
    assert print_expr(operation("+", W, wide), nothing) == "w + n", "C converts it anyway"
    assert print_expr(operation("+", N, wide), nothing) == "n + (long long)n"
    assert print_expr(operation("&&", W, wide), nothing) == "w && (long long)n"
    assert print_expr(operation("+", W, Cast(span=SPAN, type=LONG_LONG, operand=U)), nothing) == "w + (long long)u"


def test_factors_of_zero_and_one_are_worked_out() -> None:
    assert product(integer(1, SPAN), N) is N and product(N, integer(1, SPAN)) is N
    assert value(product(N, integer(0, SPAN)), {}) == 0
    assert print_expr(product(integer(2, SPAN), N), nothing) == "2 * n"


@pytest.mark.parametrize("n", [-3, 0, 5])
def test_polynomials(words: Words, n: int) -> None:
    for polynomial in (words.n * words.m - words.n - ONE, -words.n, ZERO, constant(-3), words.n.scale(4).shift(2)):
        expr = polynomial_expr(words.vocabulary, polynomial, SPAN)
        linear = words.vocabulary.linear(polynomial)
        assert linear is not None
        products = polynomial_expr(words.vocabulary, linear, SPAN)
        for one in (expr, products):
            assert value(one, {"n": n, "m": 7}) == value_of(polynomial, words.values(n, 7))
    assert words.text(polynomial_expr(words.vocabulary, words.n * words.m, SPAN)) == "(long long)m * n"


def test_what_has_no_host_value(words: Words) -> None:
    with pytest.raises(HostError, match="hidden"):
        polynomial_expr(words.vocabulary, words.hidden, SPAN)
    with pytest.raises(HostError):
        polynomial_expr(words.vocabulary, words.n.scale(2**63), SPAN)
    polynomial_expr(words.vocabulary, words.n.scale(2**63 - 1), SPAN)
    name, _ = words.vocabulary.quotient("width", "n + 1")
    words.vocabulary.define(name, equal(atom(name), words.n.shift(1)))
    assert value(polynomial_expr(words.vocabulary, atom(name), SPAN), {"n": 4}) == 5
    minus, _ = words.vocabulary.quotient("minus", "-n")
    words.vocabulary.define(minus, equal(words.n, -atom(minus)))
    assert value(polynomial_expr(words.vocabulary, atom(minus), SPAN), {"n": 4}) == -4
    half, _ = words.vocabulary.quotient("half", "n/2")
    words.vocabulary.define(half, equal(atom(half).scale(2), words.n))
    with pytest.raises(HostError):
        polynomial_expr(words.vocabulary, atom(half), SPAN)


def _conditions(words: Words) -> list[tuple[Formula, str]]:
    n, m = words.n, words.m
    return [
        (at_least(n, ONE), "n >= 1"),
        (at_least(constant(9), n), "n <= 9"),
        (at_least(m, n.shift(1)), "n < m"),
        (at_least(m, n), "n <= m"),
        (equal(n, m.scale(2)), "n == 2*m"),
        (both([at_least(n, ONE), at_least(m, ONE)]), "n >= 1 && m >= 1"),
        (And((at_least(n, ONE), Or((at_least(m, ONE), equal(n, m))))), "n >= 1 && (m >= 1 || n == m)"),
        (TRUE, "1"),
        (FALSE, "0"),
        (at_least(n.shift(2), ZERO), "n + 2 >= 0"),
    ]


def test_conditions(words: Words) -> None:
    for formula, text in _conditions(words):
        assert condition_text(words.vocabulary, formula) == text
        expr = condition_expr(words.vocabulary, formula, SPAN)
        for n, m in itertools.product((-3, -2, 0, 1, 2, 9, 10), repeat=2):
            assert bool(value(expr, {"n": n, "m": m})) == holds(formula, words.values(n, m)), (text, n, m)


def test_a_plain_comparison_needs_no_cast(words: Words) -> None:
    def written(formula: Formula) -> str:
        return words.text(condition_expr(words.vocabulary, formula, SPAN))

    assert written(at_least(words.n, ONE)) == "n >= 1"
    assert written(at_least(words.m, words.n)) == "(long long)n <= m"
    assert written(at_least(words.n.scale(2), ONE)) == "2 * (long long)n >= 1"
    # no int is 2^40: the comparison is made in 64 bits
    assert written(at_least(constant(2**40), words.n)) == "(long long)n <= 1099511627776LL"


def test_what_long_long_does_not_hold_is_tested_first(words: Words) -> None:
    text = words.text(condition_expr(words.vocabulary, at_least(words.n, words.u), SPAN))
    assert text == "u <= 9223372036854775807LL && (long long)u <= n"
    large = condition_expr(words.vocabulary, at_least(constant(2**64), words.u * words.u), SPAN)
    assert words.text(large) == "(double)u * (double)u <= 4611686018427387904.0"
    with pytest.raises(HostError):
        condition_expr(words.vocabulary, at_least(constant(2**64), words.n * words.m), SPAN)


def test_products_are_tested_in_doubles(words: Words) -> None:
    expr = product_expr(words.vocabulary, words.n * words.m + words.n.scale(3) + constant(2), 20, SPAN)
    assert words.text(expr) == "(double)m * (double)n + 3.0 * (double)n + 2.0 <= 20.0"
    for n, m in itertools.product(range(6), repeat=2):
        assert bool(value(expr, {"n": n, "m": m})) == (n * m + 3 * n + 2 <= 20)
    assert isinstance(expr, Binary) and expr.left.type == DOUBLE


def test_floors_are_floors_of_negative_numbers_too(words: Words) -> None:
    inner = Floored(words.n, (), 3)
    outer = Floored(words.m, ((2, inner), (-1, Floored(words.m, (), 1))), 4)
    expr = floored_expr(words.vocabulary, outer, SPAN)
    for n, m in itertools.product(range(-7, 8), repeat=2):
        assert value(expr, {"n": n, "m": m}) == (m + 2 * (n // 3) - m) // 4
    assert words.text(floored_expr(words.vocabulary, Floored(words.n, (), 1), SPAN)) == "(long long)n"
