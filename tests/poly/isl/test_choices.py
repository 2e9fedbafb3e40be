"""Conditionals that generators of tiled loops write are read as quotients and extremes: the same for every integer."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from tests.poly.isl.evaluation import holds, value_of
from tests.poly.programs import load
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl import choices
from warpsmith.poly.isl.choices import common_quotient, decide_comparison, extreme_of
from warpsmith.poly.isl.formula import Compare, Formula, at_least, both, either, equal, negate
from warpsmith.poly.isl.polynomial import ZERO, Polynomial, atom, constant
from warpsmith.poly.isl.vocabulary import AtomVocabulary, Extreme, Quotient


def _truncated(value: int, divisor: int) -> int:
    return abs(value) // divisor * (1 if value >= 0 else -1)


def _quotient(vocabulary: AtomVocabulary, numerator: Polynomial, divisor: int) -> Polynomial:
    name, _ = vocabulary.quotient((repr(numerator), divisor), "q")
    vocabulary.define(name, equal(ZERO, ZERO), Quotient(numerator, divisor, floor=False))
    return atom(name)


@pytest.mark.parametrize("divisor", [2, 3, 16])
@pytest.mark.parametrize("scale", [1, 16])
def test_a_choice_read_as_a_quotient_is_that_quotient(divisor: int, scale: int) -> None:
    """`n*s < 0 ? -((-n + a) / d) : (n + b) / d` for every a and b: where it is read as floor(p / d), it is that."""
    read = 0
    for a, b in itertools.product(range(-1, divisor + 1), repeat=2):
        vocabulary = AtomVocabulary()
        n = atom(vocabulary.parameter("n", "n", None, None))
        test = at_least(-n.scale(scale), constant(1))
        first = -_quotient(vocabulary, (-n).shift(a), divisor)
        second = _quotient(vocabulary, n.shift(b), divisor)
        found = common_quotient(vocabulary, test, first, second)
        if found is None:
            continue
        read += 1
        for value in range(-40, 41):
            chosen = -_truncated(-value + a, divisor) if value < 0 else _truncated(value + b, divisor)
            values = {next(iter(n.atoms())): value}
            assert chosen == value_of(found[0], values) // found[1], (a, b, value)
    # floor (a = d - 1, b = 0), ceiling (a = 0, b = d - 1), and those between
    assert read >= 2


def test_a_quotient_that_forgets_the_sign_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choices, "_implies", lambda known, wanted: True)
    with pytest.raises(AssertionError):
        test_a_choice_read_as_a_quotient_is_that_quotient(3, 1)


def test_extremes_and_constants() -> None:
    a, b = atom("a"), atom("b")
    assert extreme_of(at_least(b, a.shift(1)), a, b) == Extreme(a, b, least=True)
    assert extreme_of(at_least(b, a), b, a) == Extreme(b, a, least=False)
    assert extreme_of(at_least(b.shift(1), a), a, b) is None
    assert (decide_comparison(at_least(constant(16), ZERO)), decide_comparison(at_least(constant(-17), ZERO))) == (
        True,
        False,
    )
    assert decide_comparison(at_least(a, ZERO)) is None


def test_other_choices_are_no_quotients() -> None:
    vocabulary = AtomVocabulary()
    n = atom(vocabulary.parameter("n", "n", None, None))
    for sides in ((ZERO, n), (n, constant(16)), (n + n, -n), (n.shift(1), n * n)):
        assert common_quotient(vocabulary, at_least(n, ZERO), *sides) is None


def _random_formula(rng: random.Random, names: list[str], depth: int) -> Formula:
    if depth and rng.random() < 0.5:
        parts = [_random_formula(rng, names, depth - 1) for _ in range(2)]
        return both(parts) if rng.random() < 0.5 else either(parts)
    total = constant(rng.randint(-3, 3))
    for name in rng.sample(names, 2):
        total = total + atom(name).scale(rng.choice([-2, -1, 1, 2]))
    return negate(Compare(total, False)) if rng.random() < 0.3 else Compare(total, rng.random() < 0.2)


def _disagreements(seeds: range) -> int:
    """How many of random formulas over nested extremes are true elsewhere once these are taken out."""
    wrong = 0
    for seed in seeds:
        rng = random.Random(seed)
        vocabulary = AtomVocabulary()
        plain = [vocabulary.parameter(name, name, None, None) for name in "xyz"]
        names, meanings = [*plain], {}
        for number in range(3):
            left, right = (atom(name).shift(rng.randint(-2, 2)) for name in rng.sample(names, 2))
            name, _ = vocabulary.quotient(number, "m")
            meanings[name] = Extreme(left, right, least=rng.random() < 0.5)
            vocabulary.define(name, equal(ZERO, ZERO), meanings[name])
            names.append(name)
        formula = _random_formula(rng, names, 2)
        without = vocabulary.drop_extremes(formula)
        for point in itertools.product(range(-3, 4), repeat=3):
            values = dict(zip(plain, point, strict=True))
            for name, meaning in meanings.items():
                pick = min if meaning.least else max
                values[name] = pick(value_of(meaning.left, values), value_of(meaning.right, values))
            if holds(formula, values) != holds(without, values):
                wrong += 1
                break
    return wrong


def test_a_formula_without_extremes_is_true_where_it_was() -> None:
    assert _disagreements(range(60)) == 0


def test_an_extreme_on_the_wrong_side_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    original = AtomVocabulary.define

    def turned(self: AtomVocabulary, name: str, definition: Formula, meaning: Quotient | Extreme | None = None) -> None:
        wrong = Extreme(meaning.left, meaning.right, not meaning.least) if isinstance(meaning, Extreme) else meaning
        original(self, name, definition, wrong)

    monkeypatch.setattr(AtomVocabulary, "define", turned)
    assert _disagreements(range(60)) > 10


def test_a_nest_tiled_by_a_generator_is_understood(tmp_path: Path) -> None:
    """Floor by truncation, a minimum of minima: each of eight disjunctions would double what isl has to multiply."""
    floor = "(((n - 1) * 16 < 0 ? -((-(n - 1) + 16 - 1) / 16) : (n - 1) / 16))"
    least = "(16 * t + 15 < n - 1 ? 16 * t + 15 : n - 1)"
    bound = f"({least} < m - 1 ? {least} : m - 1)"
    text = f"""static double a[900];
    void f(int n, int m) {{
        for (int t = 0; t <= {floor}; t++)
            for (int i = 16 * t; i <= {bound}; i++)
                a[i] = i;
    }}"""
    loops = analyze(load(text, tmp_path), PolyOptions(max_operations=400_000)).functions[0].loops
    assert [loop.category for loop in loops] == ["parallel", "parallel"]
