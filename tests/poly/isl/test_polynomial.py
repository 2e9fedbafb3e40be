"""Polynomials calculate as the integers that their atoms stand for, and keep no term that is zero."""

from __future__ import annotations

import random

from tests.poly.isl.evaluation import random_polynomial, value_of
from warpsmith.poly.isl.polynomial import ONE, ZERO, Polynomial, atom, constant

NAMES = ("a", "b", "c")
A, B = atom("a"), atom("b")


def test_arithmetic_is_that_of_the_values() -> None:
    rng = random.Random(0)
    for _ in range(120):
        left, right = (random_polynomial(rng, NAMES, 3) for _ in range(2))
        values = {name: rng.randint(-5, 5) for name in NAMES}
        one, other = value_of(left, values), value_of(right, values)
        results = [
            (left + right, one + other),
            (left - right, one - other),
            (left * right, one * other),
            (-left, -one),
            (left.scale(-3), -3 * one),
            (left.shift(7), one + 7),
            (left.substitute("a", right), value_of(left, {**values, "a": other})),
            (left.rename(lambda name: "b" if name == "a" else name), value_of(left, {**values, "a": values["b"]})),
        ]
        for result, expected in results:
            assert value_of(result, values) == expected
            assert all(result.terms.values()), "no term is zero"
            assert all(list(monomial) == sorted(monomial) for monomial in result.terms)


def test_equal_polynomials_are_equal() -> None:
    assert (A + B) * (A - B) == A * A - B * B
    assert A - A == ZERO == A.scale(0) == constant(0)
    assert ONE == constant(1) == atom("a").substitute("a", ONE)


def test_what_a_polynomial_says_of_itself() -> None:
    value = A * B + B.scale(2) + constant(5)
    assert (value.constant_term, value.number, value.degree) == (5, None, 2)
    assert value.atoms() == {"a", "b"}
    assert (constant(-4).number, ZERO.number, ZERO.degree, ONE.degree) == (-4, 0, 0, 0)
    assert (A - A).atoms() == frozenset()


def test_the_coefficient_of_an_atom_and_the_rest() -> None:
    value = A * B + A.scale(3) + B * B + constant(1)
    assert value.coefficient("a") == B + constant(3)
    assert value.drop_name("a") == B * B + constant(1)
    assert value.coefficient("b") is None, "b occurs squared"
    assert value.coefficient("c") == ZERO and value.drop_name("c") == value


def test_a_product_with_an_atom_twice_is_replaced_twice() -> None:
    assert (A * A).substitute("a", B.shift(1)) == Polynomial({("b", "b"): 1, ("b",): 2, (): 1})
