"""A guard that no program of a useful size meets is found out; sizes are given for every other."""

from __future__ import annotations

import pytest

from warpsmith.poly.isl.formula import TRUE, Formula, at_least, both, equal
from warpsmith.poly.isl.polynomial import ONE, ZERO, Polynomial, constant
from warpsmith.poly.isl.polynomial import atom as atom_named
from warpsmith.poly.isl.room import CounterNest, long_runs, sample
from warpsmith.poly.isl.vocabulary import AtomVocabulary
from warpsmith.tree.types import INT, Symbol


class Names:
    """Parameters n, m, k and the counters i, j, l of a loop nest."""

    def __init__(self) -> None:
        self.vocabulary = AtomVocabulary()
        self.n, self.m, self.k = (atom_named(self.vocabulary.parameter(x, x, None, INT)) for x in "nmk")
        self.counters = tuple(self.vocabulary.counter(Symbol(x, x, INT, "local"), x, None) for x in "ijl")
        self.i, self.j, self.l = (atom_named(name) for name in self.counters)

    def below(self, counter: Polynomial, bound: Polynomial) -> Formula:
        linear = self.vocabulary.linear(bound)
        assert linear is not None
        return both([at_least(counter, ZERO), at_least(linear.shift(-1), counter)])

    def found(self, domain: Formula, plain: Formula | None = None, **nests: CounterNest) -> dict[str, int] | None:
        counters = [c for c in self.counters if c in str(domain)]
        every = {c: nests.get(self.vocabulary[c].text, CounterNest((), 1)) for c in counters}
        room = long_runs(self.vocabulary, domain, plain or domain, counters, nests=every)
        answer = sample(self.vocabulary, room)
        return None if answer is None else {self.vocabulary[name].text: value for name, value in answer.items()}


def test_sizes_meet_the_guard() -> None:
    names = Names()
    found = names.found(both([names.below(names.i, names.n), at_least(names.k, names.n)]))
    assert found is not None and found["k"] >= found["n"] >= 1000


def test_a_guard_that_only_short_loops_meet_leaves_no_room() -> None:
    names = Names()
    plain = names.below(names.i, names.n)
    short = both([plain, at_least(constant(999), names.n)])
    assert names.found(short, plain) is None
    assert names.found(both([plain, at_least(constant(1000), names.n)]), plain) is not None


def test_a_loop_that_is_always_short_needs_no_long_run() -> None:
    names = Names()
    eight = names.below(names.i, constant(8))
    assert names.found(eight) is not None
    assert names.found(both([eight, at_least(constant(4), names.i)]), eight) is not None, "half of them is enough"
    assert names.found(both([eight, at_least(constant(3), names.i)]), eight) is None


def test_a_step_takes_as_many_iterations() -> None:
    names = Names()
    plain = names.below(names.i, names.n)
    guarded = both([plain, at_least(constant(5000), names.n)])
    assert names.found(guarded, plain, i=CounterNest((), 5)) is not None
    assert names.found(guarded, plain, i=CounterNest((), -6)) is None


@pytest.mark.parametrize(("limit", "room"), [(10_000, True), (1000, False)])
def test_products_are_solved_with_their_factors(limit: int, room: bool) -> None:
    """i < n*m with n*m <= limit, n >= 60: the factors that are found give the product."""
    names = Names()
    vocabulary = names.vocabulary
    product = atom_named(vocabulary.product(tuple(sorted([*names.n.atoms(), *names.m.atoms()]))))
    plain = names.below(names.i, names.n * names.m)
    guard = both([at_least(constant(limit), product), at_least(names.n, constant(60)), at_least(names.m, constant(30))])
    found = names.found(both([plain, guard]), plain)
    assert (found is not None) == room
    if found is not None:
        assert 1000 <= found["n"] * found["m"] <= limit and found["n"] >= 60 and found["m"] >= 30


def test_a_product_that_would_have_to_be_smaller_than_its_factor_is_no_room() -> None:
    names = Names()
    square = atom_named(names.vocabulary.product((*names.n.atoms(), *names.n.atoms())))
    plain = names.below(names.i, names.n)
    assert names.found(both([plain, at_least(names.n, square)]), plain) is None
    assert names.found(both([plain, at_least(square, names.n)]), plain) is not None


def test_counters_inside_others_are_long_while_those_stand_still() -> None:
    """j runs from i to i + 1 only: many values over all i, two for one."""
    names = Names()
    plain = both([names.below(names.i, names.n), names.below(names.j, names.n)])
    diagonal = both([plain, at_least(names.j, names.i), at_least(names.i + ONE, names.j)])
    assert names.found(diagonal, plain, j=CounterNest((names.counters[0],), 1)) is None
    assert names.found(diagonal, plain) is not None


@pytest.mark.parametrize(("limit", "room"), [(464, True), (463, False)])
def test_a_deep_nest_is_long_with_fewer_iterations_a_loop(limit: int, room: bool) -> None:
    """Three loops of 464 iterations make 10^8."""
    names = Names()
    plain = both([names.below(counter, names.n) for counter in (names.i, names.j, names.l)])
    assert (names.found(both([plain, at_least(constant(limit), names.n)]), plain) is not None) == room


def test_an_empty_set_has_no_sample() -> None:
    names = Names()
    assert names.found(both([equal(names.n, ZERO), equal(names.n, ONE)])) is None
    assert names.found(TRUE) == {}
