"""Sets and relations of isl by the names of their dimensions: each answer against what the elements are."""

from __future__ import annotations

import islpy as isl
import pytest

from tests.poly.isl.evaluation import value_of
from warpsmith.poly.isl import space
from warpsmith.poly.isl.formula import FALSE, TRUE, Or, at_least, both, equal
from warpsmith.poly.isl.polynomial import Polynomial, atom, constant
from warpsmith.poly.isl.space import Floored, OutOfBudgetError, budget
from warpsmith.poly.isl.vocabulary import AtomVocabulary, IslAtom

X, N = atom("x"), atom("n")


def values(text: str) -> isl.Set:
    return isl.Set(text)


def relation(text: str) -> isl.Map:
    return isl.Map(text)


@pytest.fixture
def names() -> AtomVocabulary:
    vocabulary = AtomVocabulary()
    vocabulary.atoms["x"] = IslAtom("x", "x", "counter")
    return vocabulary


def test_sets_from_formulas(names: AtomVocabulary) -> None:
    n = names.parameter("n", "n", None, None)
    inside = both([at_least(X, constant(0)), at_least(atom(n), X)])
    assert space.make_set(names, ("x",), inside).is_equal(values(f"[{n}] -> {{ [x] : 0 <= x <= {n} }}"))
    either = Or((equal(X, constant(2)), equal(X, constant(5))))
    assert space.make_set(names, ("x",), either).is_equal(values("{ [2]; [5] }"))
    assert space.make_set(names, ("x",), TRUE).is_equal(values("{ [x] }"))
    assert space.make_set(names, ("x",), FALSE).is_empty()


def test_quotients_are_hidden(names: AtomVocabulary) -> None:
    half, _ = names.quotient("half", "x/2")
    names.define(half, both([at_least(X, atom(half).scale(2)), at_least(atom(half).scale(2).shift(1), X)]))
    odd = both([equal(X, atom(half).scale(2).shift(1)), at_least(constant(5), X), at_least(X, constant(0))])
    assert space.make_set(names, ("x",), odd).is_equal(values("{ [1]; [3]; [5] }"))
    found = space.make_map(names, ("x",), (atom(half), X.scale(-1)), equal(X, constant(7)))
    assert found.is_equal(relation("{ [7] -> [3, -7] }"))


def test_a_budget_ends_the_work_and_is_given_back() -> None:
    before = isl.DEFAULT_CONTEXT.get_max_operations()
    with pytest.raises(OutOfBudgetError, match="too complicated \\(0 steps\\)"), budget(0):
        for k in range(2, 60):
            values(f"[n] -> {{ [x] : exists q : x = {k}q and 0 <= x < {k}n }}").coalesce().lexmin()
    assert isl.DEFAULT_CONTEXT.get_max_operations() == before
    with budget(10**6), budget(500):
        assert isl.DEFAULT_CONTEXT.get_max_operations() == 500
    assert isl.DEFAULT_CONTEXT.get_max_operations() == before


@pytest.mark.parametrize("inner", ["budget", "nearest"])
def test_a_budget_inside_another_takes_nothing_of_it_and_gives_nothing_to_it(inner: str) -> None:
    """What was done before it is not forgotten: else every question inside would renew the whole."""
    pairs = relation("{ [i] -> [j] : 0 <= i < j < 5 }")
    done = 0
    with pytest.raises(OutOfBudgetError, match="steps"), budget(20_000):
        left = 20_000
        for done in range(1000):
            values(f"[n] -> {{ [x] : exists q : x = {done + 2}q and 0 <= x < {done}n }}").coalesce()
            with budget(10**6):
                relation("{ [i] -> [j] : 0 <= i < j < 50 }").lexmin()
            if inner == "nearest":
                space.nearest(pairs, latest=True)
            now = isl.DEFAULT_CONTEXT.get_max_operations()
            assert 0 < now < left
            left = now
    assert 10 < done < 900


def test_many_quotients_narrow_the_budget(names: AtomVocabulary) -> None:
    """A set of six has half of it, one of seven a quarter; one of five leaves it as it is."""
    halves = []
    for k in range(2, 9):
        name, _ = names.quotient(f"part{k}", f"x/{k}")
        inside = [at_least(X, atom(name).scale(k)), at_least(atom(name).scale(k).shift(k - 1), X)]
        names.define(name, both(inside))
        halves.append(at_least(atom(name), constant(k)))
    most = []
    for count in range(5, 8):
        with budget(10**6):
            space.make_set(names, ("x",), both(halves[:count]))
            most.append(isl.DEFAULT_CONTEXT.get_max_operations())
    assert most == [1_000_000, 500_000, 250_000]
    with pytest.raises(OutOfBudgetError, match=r"\(25 steps\)"), budget(100):
        space.make_set(names, ("x",), both(halves[::-1]))


def test_the_order_of_a_loop() -> None:
    up, down = space.order(2, 1, descending=False), space.order(1, 1, descending=True)
    assert up.is_equal(relation("{ [i, a] -> [j] : i < j }")) and down.is_equal(relation("{ [i] -> [j] : i > j }"))
    assert space.far(1, 2, 3).is_equal(relation("{ [i] -> [j, b] : j >= i + 3 or i >= j + 3 }"))


def test_distances_inside_a_set() -> None:
    rows = values("[n] -> { [i, j] : 0 <= i < n and i <= j <= i + 4 }")
    assert (space.farthest(rows, 0), space.farthest(rows, 1)) == (None, 4)
    assert space.pairs_apart(rows, 1, 4).is_equal(values("[n] -> { [] : n > 0 }").params())
    assert space.pairs_apart(rows, 1, 5).is_empty()
    assert space.pairs_apart(rows, 0, 3).is_equal(values("[n] -> { [] : n >= 4 }").params())


def test_ends_of_a_parameter() -> None:
    some = values("[n, m] -> { : 2 <= n < m and m <= 9 }")
    assert space.ends(some, "n") == (2, 8) and space.ends(some, "m") == (3, 9)
    assert space.ends(some, "k") == (None, None) and space.ends(values("[n] -> { : n > n }"), "n") == (None, None)
    assert space.ends(values("[n] -> { : n >= 1 }"), "n") == (1, None)


def test_a_projection_as_a_formula() -> None:
    assert space.parameter_formula(values("[n] -> { [x] : 0 <= x < n }")) == at_least(N, constant(1))
    assert space.parameter_formula(values("[n] -> { [x] : x = 2n and 0 <= x <= 0 }")) == equal(N, constant(0))
    assert space.parameter_formula(values("[n] -> { : exists q : n = 3q }")) is None
    two = values("[n] -> { : n = 1 or n = 5 }")
    assert space.parameter_formula(two, 1) is None
    found = space.parameter_formula(two, 2)
    assert isinstance(found, Or) and len(found.parts) == 2


def test_one_element() -> None:
    assert space.point(values("[n] -> { [x, y] : n = 4 and x = n and y = -1 }")) == ({"n": 4}, (4, -1))
    assert space.point(values("{ [x] : x > x }")) is None


@pytest.mark.parametrize("greatest", [True, False])
def test_extremes_as_functions_of_the_parameters(greatest: bool) -> None:
    found = space.pieces(values("[n] -> { [x] : 0 <= x < n and exists k : x = 3k }"), greatest=greatest)
    assert found is not None and len(found) == 1
    where, (extreme,) = found[0]
    assert where == at_least(N, constant(1))
    for n in range(1, 12):
        assert _floored(extreme, {"n": n}) == ((n - 1) // 3 * 3 if greatest else 0)
    assert space.pieces(values("[n] -> { [x] : x = 0 and exists k : n = 2k }"), greatest=greatest) is None


def _floored(value: Floored, at: dict[str, int]) -> int:
    total = value_of(value.polynomial, at) + sum(factor * _floored(inner, at) for factor, inner in value.floors)
    return total // value.divisor


def test_parameters_that_only_quotients_decide() -> None:
    decided = space.find_undecided(values("[n] -> { [x] : 0 <= x < n }"), greatest=True)
    assert decided.is_empty()
    odd = values("[n] -> { [x] : x = 0 and 0 <= n <= 9 and exists k : n = 2k }")
    open_ones = space.find_undecided(odd, greatest=False)
    assert all(values(f"[n] -> {{ : n = {n} }}").is_subset(open_ones) for n in (1, 3, 5, 7))
    assert not any(values(f"[n] -> {{ : n = {n} }}").is_subset(open_ones) for n in (0, 4, -1, 11))


def test_differences_and_what_is_bounded() -> None:
    pairs = relation("[n] -> { [i, j] -> [i + 1, k] : 0 <= i < n and j <= k }")
    assert space.deltas(pairs, 2) == [(1, 1), (0, None)] and space.deltas(pairs, 1) == [(1, 1)]
    assert space.is_bounded(values("[n] -> { [x] : 0 <= x < n }")) and not space.is_bounded(values("{ [x] : x > 0 }"))
    assert space.image(pairs).is_equal(pairs.range())


def test_the_nearest_pairs() -> None:
    pairs = relation("{ [i] -> [j] : 0 <= i < j < 5 }")
    assert space.nearest(pairs, latest=False).is_equal(relation("{ [i] -> [i + 1] : 0 <= i <= 3 }"))
    assert space.nearest(relation("{ [i] -> [j] : 0 <= i <= j - 2 and j < 5 }"), latest=True).is_equal(
        relation("{ [i] -> [i + 2] : 0 <= i <= 2 }")
    )


def test_a_simpler_formula_where_something_is_known(names: AtomVocabulary) -> None:
    n = atom(names.parameter("n", "n", None, None))
    low, high = at_least(n, constant(2)), at_least(constant(9), n)
    assert space.gist(names, both([low, high]), low) == high


def test_supersets() -> None:
    two = values("{ [x] : x = 0 or x = 5 }")
    assert space.hull(two).is_equal(values("{ [x] : 0 <= x <= 5 }"))
    wide = space.drop_quotients(values("[n] -> { [x] : x = 1 and 0 <= n <= 6 and exists k : n = 3k }"))
    assert wide.is_equal(values("[n] -> { : 0 <= n <= 6 }").params())


@pytest.mark.parametrize(
    ("steps", "held", "ties", "expected"),
    [
        ((1, 1), 0, False, "y0 < x0 or y0 = x0 and y1 < x1"),
        ((1, -1), 0, False, "y0 < x0 or y0 = x0 and y1 > x1"),
        ((1, 1), 1, True, "y0 = x0 and y1 <= x1"),
        ((), 0, True, "true"),
        ((), 0, False, "false"),
    ],
)
def test_what_runs_earlier(steps: tuple[int, ...], held: int, ties: bool, expected: str) -> None:
    found = space.earlier(2, 2, steps, held=held, ties=ties)
    assert found.is_equal(relation(f"{{ [x0, x1] -> [y0, y1] : {expected} }}"))


def test_times() -> None:
    value: Polynomial = X + N
    found = space.make_schedule_map(("x",), ((value, 1), (X, 4)))
    assert found.is_equal(relation("[n] -> { [x] -> [x + n, floor(x/4)] }"))
    earlier = space.lexicographic(relation("{ [x] -> [0, x] }"), relation("{ [y] -> [0, y] }"))
    assert earlier.is_equal(relation("{ [x] -> [y] : x < y }"))


def test_dimensions_come_and_go() -> None:
    pairs = relation("{ [i, j] -> [k] : j = i + 1 and k = j }")
    assert space.shallow(pairs, 1).is_equal(relation("{ [i] -> [i + 1] }"))
    assert space.prefix(pairs, 1).is_equal(space.shallow(pairs, 1))
    assert space.widen_relation(relation("{ [i] -> [i] }"), 2, 1).is_equal(relation("{ [i, j] -> [i] }"))
    assert space.remove_points(relation("{ [i] -> [j] }"), relation("{ [i] -> [j] : j > i }")).is_equal(
        relation("{ [i] -> [j] : j <= i }")
    )
