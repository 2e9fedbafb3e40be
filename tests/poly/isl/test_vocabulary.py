"""Atoms: the same thing is the same atom, products of what stands still are atoms of their own, quotients bring their
definitions along."""

from __future__ import annotations

import itertools

import pytest

from tests.poly.isl.evaluation import holds
from warpsmith.base.source import SourceFile, Span
from warpsmith.poly.isl.formula import And, Compare, Or, at_least, both, equal
from warpsmith.poly.isl.polynomial import ZERO, Polynomial, atom, constant
from warpsmith.poly.isl.vocabulary import AtomVocabulary, Extreme
from warpsmith.tree.nodes import Name
from warpsmith.tree.types import CHAR, INT, Symbol

COUNTER = Symbol("i", "i", INT, "local")


@pytest.fixture
def names() -> AtomVocabulary:
    vocabulary = AtomVocabulary()
    for name in ("n", "m"):
        vocabulary.parameter(name, name, None, INT)
    vocabulary.counter(COUNTER, "inner", None)
    return vocabulary


def named(vocabulary: AtomVocabulary, text: str) -> Polynomial:
    return atom(next(name for name, one in vocabulary.atoms.items() if one.text == text))


def test_the_same_thing_is_the_same_atom(names: AtomVocabulary) -> None:
    assert atom(names.parameter("n", "again", None, None)) == named(names, "n")
    assert atom(names.counter(COUNTER, "inner", None)) == named(names, "i")
    other = names.counter(COUNTER, "another loop", None)
    assert atom(other) != named(names, "i") and names[other].text == "i"
    first, second = names.quotient("q", "n/2"), names.quotient("q", "n/2")
    assert (first[1], second) == (True, (first[0], False))


def test_atoms_know_the_range_of_their_type(names: AtomVocabulary) -> None:
    narrow = names[names.counter(Symbol("c", "c", CHAR, "local"), 1, None)]
    assert (narrow.low, narrow.high, narrow.kind) == (-128, 127, "counter")
    free = names[names.parameter("?", "2 odd", None, None)]
    assert (free.low, free.high) == (None, None)
    assert free.name[0].isalpha() and " " not in free.name


def test_a_copy_learns_alone(names: AtomVocabulary) -> None:
    own = names.copy()
    own.parameter("k", "k", None, INT)
    assert len(own.atoms) == len(names.atoms) + 1
    assert own.parameter("n", "n", None, INT) == names.parameter("n", "n", None, INT)


def test_what_moves_with_a_counter_is_not_invariant(names: AtomVocabulary) -> None:
    n, i = named(names, "n"), named(names, "i")
    outer = Name(span=Span(SourceFile("none.c", ""), 0, 0), type=INT, symbol=COUNTER)
    around = names.counter(COUNTER, "around the region", outer)
    moving, still = names.quotient("moving", "i/2")[0], names.quotient("still", "n/2")[0]
    names.define(moving, equal(atom(moving).scale(2), i))
    names.define(still, equal(atom(still).scale(2), n))
    assert [names.invariant(x) for x in (*n.atoms(), around, still)] == [True] * 3
    assert [names.invariant(x) for x in (*i.atoms(), moving)] == [False] * 2


def test_products_of_parameters_are_linear_and_those_of_counters_are_not(names: AtomVocabulary) -> None:
    n, m, i = (named(names, x) for x in "nmi")
    whole = (n * m).scale(3) + i - constant(2)
    linear = names.linear(whole)
    assert linear is not None and linear.degree == 1 and names.text(linear) == "i + 3*m*n - 2"
    assert linear is not None and names.multiply_out(linear) == whole
    assert names.linear(i * n) is None
    twice = names.linear(n * m * n)
    nested = names.linear(atom(names.product((*n.atoms(), *m.atoms()))) * n)
    assert twice == nested, "a product of a product is one product"


def test_a_formula_is_linear_where_all_of_it_is(names: AtomVocabulary) -> None:
    n, m, i = (named(names, x) for x in "nmi")
    good, bad = at_least(n * m, i), equal(i * n, ZERO)
    assert names.linear_formula(And((good, good))) is not None
    assert names.linear_formula(Or((good, bad))) is None and names.linear_formula(bad) is None


@pytest.mark.parametrize(("least", "factor"), [(True, 2), (True, -1), (False, 2), (False, -1)])
def test_extremes_leave_a_formula_that_is_true_at_the_same_points(
    names: AtomVocabulary, least: bool, factor: int
) -> None:
    n, m = named(names, "n"), named(names, "m")
    extreme, _ = names.quotient("extreme", "min")
    names.define(extreme, equal(ZERO, ZERO), Extreme(n, m.shift(1), least=least))
    formula = both([at_least(atom(extreme).scale(factor) + n, constant(1)), at_least(m, ZERO)])
    found = names.drop_extremes(formula)
    assert extreme not in str(found)
    (at,) = atom(extreme).atoms()
    for a, b in itertools.product(range(-4, 5), repeat=2):
        values = {**dict.fromkeys(n.atoms(), a), **dict.fromkeys(m.atoms(), b)}
        chosen = min(a, b + 1) if least else max(a, b + 1)
        assert holds(found, values) == holds(formula, {**values, at: chosen})
    equation = Compare(atom(extreme), True)
    assert names.drop_extremes(equation) == equation


def test_definitions_come_with_what_they_need(names: AtomVocabulary) -> None:
    n = named(names, "n")
    half, quarter = names.quotient("half", "n/2")[0], names.quotient("quarter", "n/4")[0]
    names.define(half, at_least(n, atom(half).scale(2)))
    names.define(quarter, at_least(atom(half), atom(quarter).scale(2)))
    quotients, formulas = names.definitions(frozenset({quarter}))
    assert quotients == {half, quarter} and len(formulas) == 2
    assert names.definitions(n.atoms()) == (frozenset(), ())


def test_polynomials_in_the_users_names(names: AtomVocabulary) -> None:
    n, m = named(names, "n"), named(names, "m")
    assert names.text((n * m).scale(2) - n + constant(3)) == "2*m*n - n + 3"
    assert names.text(-n - constant(1)) == "-n - 1"
    assert (names.text(ZERO), names.text(constant(-7)), names.text(m)) == ("0", "-7", "m")
