"""Linear forms: their value is C's, and what follows from inequalities does."""

from __future__ import annotations

import itertools
import random

from warpsmith.loops.analysis.ends import fits
from warpsmith.loops.linear import Linear, follows
from warpsmith.tree.types import INT, LONG_LONG, UNSIGNED, Symbol, Type


def symbol(name: str, type: Type = INT) -> Symbol:
    return Symbol(name, name, type, "local")


X, Y, Z = (Linear(((symbol(name), 1),)) for name in "xyz")


def test_arithmetic_of_forms() -> None:
    form = X.scale(2).plus(Y, -3).shift(5)
    assert form.coefficient(symbol("x")) == 2 and form.constant == 5
    assert form.minus(form) == Linear()
    assert form.with_value(symbol("x"), Y.shift(1)) == Y.scale(-1).shift(7)


def _value(form: Linear, point: dict[str, int]) -> int:
    return form.constant + sum(c * point[s.name] for s, c in form.terms)


def test_what_follows_holds_everywhere() -> None:
    rng = random.Random(7)
    points = [dict(zip("xyz", p, strict=True)) for p in itertools.product(range(-4, 5), repeat=3)]

    def make() -> Linear:
        form = Linear((), rng.randint(-3, 3))
        for one in rng.sample([X, Y, Z], rng.choice([1, 2, 2, 3])):
            form = form.plus(one, rng.choice([-2, -1, 1, 1]))
        return form

    yes = 0
    for _ in range(400):
        facts = [make() for _ in range(rng.choice([1, 2, 3]))]
        goal = facts[0].plus(facts[-1]).shift(rng.randint(-2, 2)) if rng.random() < 0.5 else make()
        if follows(goal, facts):
            yes += 1
            assert all(_value(goal, p) >= 0 for p in points if all(_value(f, p) >= 0 for f in facts)), (goal, facts)
    assert yes > 60


def test_a_value_fits_its_type_only_where_that_is_shown() -> None:
    assert not fits(X.shift(1), INT, ())
    assert fits(X.shift(1), LONG_LONG, ())
    assert fits(X.shift(1), INT, (Y.minus(X).shift(-1),))
    assert not fits(X, UNSIGNED, ())
    assert fits(X, UNSIGNED, (X,))
