"""Bits of numbers and values of maps: what their formulas say is true of all small integers."""

from __future__ import annotations

import itertools

import pytest

from tests.poly.isl.evaluation import holds
from warpsmith.poly.isl.bitwise import divide, mask_value, ones
from warpsmith.poly.isl.formula import both
from warpsmith.poly.isl.polynomial import Polynomial, atom, constant
from warpsmith.poly.isl.vocabulary import AtomVocabulary
from warpsmith.tree.types import INT, Symbol

COUNTERS = [Symbol(name, name, INT, "local") for name in "ij"]


@pytest.fixture
def names() -> AtomVocabulary:
    vocabulary = AtomVocabulary()
    vocabulary.parameter("m", "m", None, INT)
    for symbol in COUNTERS:
        vocabulary.counter(symbol, symbol.name, None)
    return vocabulary


def named(vocabulary: AtomVocabulary, text: str) -> Polynomial:
    return atom(next(name for name, one in vocabulary.atoms.items() if one.text == text))


@pytest.mark.parametrize(
    ("mask", "runs"),
    [
        (0, ()),
        (1, ((0, 1),)),
        (6, ((1, 3),)),
        (0b1011, ((0, 2), (3, 4))),
        (0x5555, None),
        (0x55, ((0, 1), (2, 3), (4, 5), (6, 7))),
    ],
)
def test_runs_of_ones(mask: int, runs: tuple[tuple[int, int], ...] | None) -> None:
    assert ones(mask) == runs
    assert runs is None or sum(2**high - 2**low for low, high in runs) == mask


def test_what_is_said_of_a_masked_value_is_true(names: AtomVocabulary) -> None:
    i, m = named(names, "i"), named(names, "m")
    value = mask_value(names, i, m)
    assert value == mask_value(names, m, i), "the one that is not invariant is masked"
    assert value is not None and not names.invariant(*value.atoms())
    (name,) = value.atoms()
    formula = names[name].definition
    for one, mask in itertools.product(range(-20, 21), repeat=2):
        here = {"i_1": one, "m_0": mask}
        assert {n for n in names.atoms if n in here} == set(here)
        assert holds(formula, {**here, name: one & mask})
        if one >= 0 and mask >= 0:
            assert not holds(formula, {**here, name: min(one, mask) + 1}) and not holds(formula, {**here, name: -1})


def test_what_is_said_of_a_division_is_true(names: AtomVocabulary) -> None:
    parts = divide(names, named(names, "i"), named(names, "m"))
    assert parts is not None
    (quotient,), (remainder,) = (part.atoms() for part in parts)
    formula = both(names.definitions(frozenset((remainder,)))[1])
    assert names.definitions(frozenset((remainder,)))[0] == {quotient, remainder}
    for value, divisor in itertools.product(range(21), range(1, 21)):
        here = {"i_1": value, "m_0": divisor}
        true = {quotient: value // divisor, remainder: value % divisor}
        assert holds(formula, {**here, **true})
        assert not holds(formula, {**here, **true, remainder: divisor})
        assert value >= divisor or not holds(formula, {**here, **true, quotient: 1})
    assert divide(names, named(names, "i"), named(names, "m")) == parts, "asked again it is the same"


def test_two_counters_are_no_map(names: AtomVocabulary) -> None:
    i, j, m = (named(names, text) for text in "ijm")
    assert mask_value(names, i, j) is None and divide(names, m, j) is None
    assert mask_value(names, i * j, m) is None and divide(names, i * j, m) is None
    assert mask_value(names, i + j, m + constant(3)) is not None
