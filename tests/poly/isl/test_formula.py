"""Formulas: the complement is exact for every integer, and what is trivial is not kept."""

from __future__ import annotations

import itertools
import random

from tests.poly.isl.evaluation import holds, random_polynomial
from warpsmith.poly.isl.formula import (
    FALSE,
    TRUE,
    And,
    Compare,
    Formula,
    Or,
    at_least,
    atoms_of,
    both,
    either,
    equal,
    follows,
    negate,
    options,
)
from warpsmith.poly.isl.polynomial import ONE, ZERO, atom, constant

A, B = atom("a"), atom("b")
POINTS = [{"a": a, "b": b} for a, b in itertools.product(range(-4, 5), repeat=2)]


def _random_formula(rng: random.Random, depth: int) -> Formula:
    if depth and rng.random() < 0.6:
        parts = tuple(_random_formula(rng, depth - 1) for _ in range(rng.randint(0, 3)))
        return And(parts) if rng.random() < 0.5 else Or(parts)
    return Compare(random_polynomial(rng, ("a", "b"), 2), rng.random() < 0.4)


def test_the_complement_holds_where_the_formula_does_not() -> None:
    rng = random.Random(0)
    for _ in range(60):
        formula = _random_formula(rng, 3)
        complement = negate(formula)
        assert all(holds(formula, point) != holds(complement, point) for point in POINTS)


def test_comparisons() -> None:
    for point in POINTS:
        assert holds(at_least(A, B), point) == (point["a"] >= point["b"])
        assert holds(equal(A, B.shift(2)), point) == (point["a"] == point["b"] + 2)


def test_conjunctions_and_disjunctions_are_flat() -> None:
    p, q, r = (at_least(A, constant(k)) for k in range(3))
    assert both([p, And((q, r))]) == And((p, q, r)) and either([p, Or((q, r))]) == Or((p, q, r))
    assert both([p]) == p == either([p]) == both([TRUE, p]) == either([FALSE, p])
    assert both([]) == TRUE and either([]) == FALSE
    assert both([p, FALSE]) == FALSE and either([p, TRUE]) == TRUE
    # the other kind is a part as it stands
    assert both([p, Or((q, r))]) == And((p, Or((q, r)))) and either([p, And((q, r))]) == Or((p, And((q, r))))


def test_trivial_complements() -> None:
    assert negate(TRUE) == FALSE and negate(FALSE) == TRUE
    assert negate(at_least(A, ZERO)) == at_least(constant(-1), A)
    assert negate(equal(A, ZERO)) == Or((at_least(A, ONE), at_least(constant(-1), A)))


def test_atoms_and_options() -> None:
    whole = Or((both([at_least(A * B, ZERO), equal(atom("c"), ONE)]), at_least(ONE, ZERO)))
    assert atoms_of(whole) == {"a", "b", "c"}
    assert options(whole) == whole.parts and options(at_least(A, B)) == (at_least(A, B),)
    assert options(FALSE) == () and options(TRUE) == (TRUE,)


def test_what_follows_holds_wherever_the_parts_do() -> None:
    rng = random.Random(1)
    found = 0
    for _ in range(400):
        parts = [_random_formula(rng, 1) for _ in range(rng.randint(1, 3))]
        known = [part.polynomial for part in parts if isinstance(part, Compare)]
        value = constant(rng.randint(-2, 2))
        for _ in range(rng.randint(0, 3)):
            value = value + (rng.choice(known) if known else random_polynomial(rng, ("a", "b"), 2))
        if follows(value, parts):
            found += 1
            assert all(holds(at_least(value, ZERO), point) for point in POINTS if holds(both(parts), point))
    assert found > 60


def test_the_subscripts_of_triangular_nests_follow() -> None:
    i, j, k, n = (atom(name) for name in "ijkn")
    nest = [at_least(i, ZERO), at_least(j, i.shift(1)), at_least(k, j.shift(1)), at_least(n.shift(-1), k)]
    for value in (i, j, k, k.shift(-2), n - j - ONE, n - i - ONE, n.shift(-3)):
        assert follows(value, (both(nest[:2]), *nest[2:])) == (value != n.shift(-3))
    assert not follows(k.shift(-3), nest) and not follows(n - j - constant(3), nest) and not follows(-i, nest)
    assert follows(-i, [equal(i, ZERO)]) and follows(i, [equal(i, ZERO)]) and not follows(i, [Or((nest[0],))])
