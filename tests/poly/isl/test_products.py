"""Least values of products of counters: never above a value that is really taken, and no answer without a sign."""

from __future__ import annotations

import itertools

from tests.poly.isl.evaluation import value_of
from warpsmith.poly.isl.bitwise import divide
from warpsmith.poly.isl.polynomial import ZERO, Polynomial, atom, constant
from warpsmith.poly.isl.products import least_by_division, least_value, product_limit, quotients_as_dividends
from warpsmith.poly.isl.vocabulary import AtomVocabulary

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


def test_a_quotient_beside_its_divisor_is_bounded_by_its_dividend() -> None:
    names = AtomVocabulary()
    n, m, k = (atom(names.parameter(name, name, None, None)) for name in "nmk")
    for divisor in (m, m.scale(2), m + k):
        dividend = n + divisor - constant(1)
        parts = divide(names, dividend, divisor)
        assert parts is not None
        (quotient,) = parts[0].atoms()
        for value in (
            constant(99) - parts[0] * divisor,
            parts[0] * divisor.scale(2) + k,
            -(parts[0] * divisor) - parts[0],
        ):
            found = quotients_as_dividends(names, value)
            assert (quotient in found.atoms()) == (found == value)
            for sizes in itertools.product(range(6), range(1, 5), range(3)):
                given = dict(zip((*n.atoms(), *m.atoms(), *k.atoms()), sizes, strict=True))
                given[quotient] = value_of(dividend, given) // value_of(divisor, given)
                assert value_of(found, given) <= value_of(value, given)
        assert quotients_as_dividends(names, constant(9) - parts[0] * divisor) == constant(9) - dividend
        assert quotients_as_dividends(names, constant(9) - parts[0] * (divisor + k)) == constant(9) - parts[0] * (
            divisor + k
        )
        assert quotients_as_dividends(names, parts[1] * divisor) == parts[1] * divisor, "a remainder is no quotient"


def test_what_a_quotient_is_at_most_is_never_above_a_value() -> None:
    """q m is e - r, and q w is no more than twice that where w is no more than twice m."""
    names = AtomVocabulary()
    e, m, w, k = (atom(names.parameter(name, name, None, None)) for name in "emwk")
    parts = divide(names, e, m)
    assert parts is not None
    q, r = parts
    for value in (
        constant(90) - q * m,
        constant(90) - q * w - r,
        q * w - k,
        (q * m).scale(3) - (q * w).scale(2) + k,
        -(q * w) - q,
    ):
        found, needed = least_by_division(names, value)
        assert all(len(monomial) < 2 for monomial in found.terms) and bool(needed) == (w.atoms() <= value.atoms())
        equal = False
        for sizes in itertools.product(range(12), range(1, 5), range(-2, 9), range(2)):
            given = dict(zip((*e.atoms(), *m.atoms(), *w.atoms(), *k.atoms()), sizes, strict=True))
            given |= dict(zip((*q.atoms(), *r.atoms()), divmod(sizes[0], sizes[1]), strict=True))
            if all(value_of(p, given) >= 0 for p in needed):
                assert value_of(found, given) <= value_of(value, given)
                equal = equal or value_of(found, given) == value_of(value, given)
        assert equal, "the bound is reached"
    assert least_by_division(names, q * m * k) == (q * m * k, ()), "of two factors"
    assert least_by_division(names, r * m) == (r * m, ()), "a remainder is no quotient"
