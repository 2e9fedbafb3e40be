"""Least values of products of counters: never above a value that is really taken, and no answer without a sign."""

from __future__ import annotations

import itertools

from tests.poly.isl.evaluation import value_of
from warpsmith.poly.isl.polynomial import ZERO, Polynomial, atom, constant
from warpsmith.poly.isl.products import least_value, product_limit

OUTER, INNER, N, M = (atom(name) for name in "ijnm")
# 0 <= i < n, i <= j < m
LIMITS: dict[str, tuple[Polynomial | None, Polynomial | None]] = {
    "i": (ZERO, N.shift(-1)),
    "j": (OUTER, M.shift(-1)),
}


def is_natural(value: Polynomial) -> bool:
    """Whether no term is negative: n and m are sizes."""
    return all(factor >= 0 for factor in value.terms.values())


def least(value: Polynomial) -> Polynomial | None:
    return least_value(value, ("j", "i"), LIMITS, is_natural)


def test_the_least_value_is_below_every_value_that_is_taken() -> None:
    for value in (
        constant(100) - OUTER * N - INNER,
        INNER * M + OUTER,
        OUTER * M + INNER,
        INNER - OUTER.scale(3),
        (-INNER).shift(5),
    ):
        found = least(value)
        assert found is not None and not found.atoms() & {"i", "j"}
        taken = False
        for n, m in itertools.product(range(1, 5), repeat=2):
            sizes = {"n": n, "m": m}
            for i in range(n):
                for j in range(i, m):
                    assert value_of(value, {**sizes, "i": i, "j": j}) >= value_of(found, sizes)
                    taken = True
        assert taken


def test_the_example_of_an_unsigned_subscript() -> None:
    assert least_value(
        constant(100) - OUTER * N - INNER, ("j", "i"), {**LIMITS, "j": (ZERO, N.shift(-1))}, is_natural
    ) == (constant(101) - N * N)


def test_what_has_no_sign_or_no_end_has_no_least_value() -> None:
    assert least(OUTER * (N - M)) is None, "the sign of n - m is not known"
    assert least(OUTER * OUTER) is None, "a square is no product of two counters"
    assert least_value(OUTER, ("i",), {"i": (None, N)}, is_natural) is None
    assert least_value(-OUTER, ("i",), {"i": (None, N)}, is_natural) == -N
    assert least_value(OUTER, ("i",), {}, is_natural) is None
    assert least_value(N, ("i",), {}, is_natural) == N, "counters that do not occur need no limits"


def test_a_product_limit_is_what_the_terms_may_reach() -> None:
    assert product_limit(constant(100) - N * M - N, is_natural) == (N * M + N, 100)
    assert product_limit(constant(2**64) - N * M, is_natural) == (N * M, 2**62)
    assert product_limit(constant(100) - N * M + N, is_natural) == (N * M, 100), "what is added helps only"


def test_there_is_no_limit_where_nothing_is_left_or_signs_are_open() -> None:
    assert product_limit(-(N * M), is_natural) is None and product_limit(constant(-1) - N, is_natural) is None
    assert product_limit(constant(7) + N, is_natural) is None, "nothing is subtracted"
    assert product_limit(constant(7) - N, lambda value: False) is None
    assert product_limit(constant(7) - N + M, lambda value: "m" not in value.atoms()) is None
    assert product_limit(constant(7) - N + M, lambda value: "n" not in value.atoms()) is None
