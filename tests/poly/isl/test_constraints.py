"""Sets and relations made of constraints: the elements are those that the formula says, and those of isl's parser."""

from __future__ import annotations

import random
from itertools import product

import islpy as isl

from tests.poly.isl.evaluation import holds, random_polynomial, value_of
from warpsmith.poly.isl.constraints import condition_of, map_of, set_of
from warpsmith.poly.isl.formula import FALSE, TRUE, And, Compare, Formula, Or, at_least, both, equal
from warpsmith.poly.isl.polynomial import Polynomial, atom, constant

NAMES = ("a", "b", "n")
RANGE = range(-3, 4)


def formula(rng: random.Random, depth: int) -> Formula:
    if depth == 0 or rng.random() < 0.3:
        return Compare(random_polynomial(rng, NAMES, 1), rng.random() < 0.2)
    parts = tuple(formula(rng, depth - 1) for _ in range(rng.randint(0, 4)))
    return And(parts) if rng.random() < 0.6 else Or(parts)


def written(formula: Formula) -> str:
    match formula:
        case Compare(polynomial, equality):
            return f"{summed(polynomial)} {'=' if equality else '>='} 0"
        case And(parts):
            return f"({' and '.join(map(written, parts))})" if parts else "true"
        case Or(parts):
            return f"({' or '.join(map(written, parts))})" if parts else "false"


def summed(polynomial: Polynomial) -> str:
    return " + ".join(f"{factor} {' '.join(names)}" for names, factor in polynomial.terms.items()) or "0"


def test_the_elements_are_those_of_the_formula_and_of_the_text() -> None:
    rng = random.Random(7)
    for _ in range(300):
        wanted = formula(rng, 3)
        found = set_of(("n",), ("a", "b"), condition_of(wanted))
        assert found.is_equal(isl.Set(f"[n] -> {{ [a, b] : {written(wanted)} }}"))
        for a, b, n in product(RANGE, RANGE, RANGE):
            here = isl.Set(f"[n] -> {{ [{a}, {b}] : n = {n} }}") if (a + b + n) % 40 == 0 else None
            if here is not None:
                assert here.is_subset(found) == holds(wanted, {"a": a, "b": b, "n": n})


def test_a_relation_has_an_equation_for_each_output() -> None:
    rng = random.Random(8)
    for _ in range(100):
        wanted, output = formula(rng, 2), random_polynomial(rng, NAMES, 1)
        found = map_of(("n",), ("a", "b"), ("o0",), condition_of(wanted, [atom("o0") - output]))
        text = f"[n] -> {{ [a, b] -> [o0] : {written(wanted)} and o0 = {summed(output)} }}"
        assert found.is_equal(isl.Map(text))
        values = {"a": 1, "b": -2, "n": 3}
        pair = isl.Map(f"[n] -> {{ [1, -2] -> [{value_of(output, values)}] : n = 3 }}")
        assert pair.is_subset(found) == holds(wanted, values)


def test_nothing_all_and_no_dimension() -> None:
    assert set_of((), ("a",), condition_of(TRUE)).is_equal(isl.Set("{ [a] }"))
    assert set_of((), ("a",), condition_of(FALSE)).is_empty()
    assert set_of(("n",), (), condition_of(at_least(atom("n"), constant(2)))).is_equal(
        isl.Set("[n] -> { [] : n >= 2 }")
    )
    both_ways = condition_of(Or((equal(atom("a"), constant(1)), FALSE)))
    assert set_of((), ("a",), both_ways).is_equal(isl.Set("{ [1] }"))


def test_numbers_of_any_size() -> None:
    large = 10**30
    found = set_of((), ("a",), condition_of(equal(atom("a"), constant(large))))
    assert found.is_equal(isl.Set(f"{{ [{large}] }}"))


def test_one_question_is_answered_once() -> None:
    limits = both([at_least(atom("a"), constant(0)), at_least(atom("n"), atom("a"))])
    first = set_of(("n",), ("a",), condition_of(limits))
    assert set_of(("n",), ("a",), condition_of(limits)) is first
    assert not set_of(("a",), ("n",), condition_of(limits)).is_equal(first)
    assert condition_of(And((limits,))) != condition_of(Or((limits,)))
