"""User assertions, read as text: conditions become formulas, facts are found by their words."""

from __future__ import annotations

import itertools

import islpy as isl
import pytest

from tests.poly.analysis import program_of
from tests.poly.isl.evaluation import holds
from tests.poly.regions.modelled import modelled
from warpsmith.poly.granted import condition, grants, names_in
from warpsmith.poly.isl.formula import Formula
from warpsmith.poly.isl.space import make_set
from warpsmith.poly.isl.vocabulary import AtomVocabulary
from warpsmith.poly.regions.state import State
from warpsmith.tree.program import Assumption

GIVEN = tuple(
    Assumption(text, "granted")
    for text in ("noalias(b, a)", " injective ( idx ) ", "parallel(f/i)", "n >= 1", "reachable(a)")
)


@pytest.mark.parametrize(
    ("word", "arguments", "text"),
    [
        ("noalias", ("a", "b"), "noalias(b, a)"),
        ("noalias", ("b", "a"), "noalias(b, a)"),
        ("noalias", ("a", "c"), None),
        ("injective", ("idx",), " injective ( idx ) "),
        ("injective", ("a",), None),
        ("parallel", ("f/i",), "parallel(f/i)"),
        ("parallel", ("f/j",), None),
        ("reachable", ("a",), "reachable(a)"),
        ("reachable", ("b",), None),
    ],
)
def test_facts_by_their_words(word: str, arguments: tuple[str, ...], text: str | None) -> None:
    found = grants(GIVEN, word, *arguments)
    assert (None if found is None else found.text) == text


def test_the_order_of_names_counts_but_for_noalias() -> None:
    given = (Assumption("other(b, a)", "granted"),)
    assert grants(given, "other", "b", "a") is not None and grants(given, "other", "a", "b") is None


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n>=1", ("n",)),
        ("1 <= n < 2*m", ("n", "m")),
        ("-n == m", ("n", "m")),
        ("n % 4 == 0", ("n",)),
        ("n + m - 1 != 3", ("n", "m")),
        ("n / 2 == 1", None),
        ("n >= 1 || m >= 1", None),
        ("not n >= 1", None),
        ("f(n) >= 1", None),
        ("a[0] >= 1", None),
        ("n", None),
        ("n >= 1 && m", None),
        ("", None),
        ("parallel()", None),
        ("noalias(a)", None),
        ("noalias(a, )", None),
        ("unknown(a)", None),
        ("(" * 5000, None),
    ],
)
def test_names(text: str, names: tuple[str, ...] | None) -> None:
    found = names_in(text)
    assert (None if found is None else tuple(sorted(found))) == (None if names is None else tuple(sorted(names)))


def _reader() -> State:
    text = "void f(int n, int m, double *a) { for (int i = 0; i < n + m; i++) a[i] = 0; }"
    return modelled(program_of(text), "f/i")[1]


@pytest.fixture(scope="module")
def state() -> State:
    return _reader()


def _formula(text: str, state: State) -> Formula | None:
    names = {one.text: name for name, one in state.vocabulary.atoms.items() if one.text in ("n", "m")}
    return condition(text, names, state.affine)


@pytest.mark.parametrize("text", ["n >= 1", "1 <= n < 2*m", "n == m && m != 2", "-n < m - 3", "n*m >= 4", "n <= 3"])
def test_conditions_mean_what_they_say(text: str, state: State) -> None:
    formula = _formula(text, state)
    assert formula is not None
    vocabulary: AtomVocabulary = state.vocabulary
    for n, m in itertools.product(range(-4, 5), repeat=2):
        values = {name: {"n": n, "m": m, "i": 0}.get(one.text, n * m) for name, one in vocabulary.atoms.items()}
        assert holds(formula, values) == eval(text.replace("&&", "and"), {"n": n, "m": m})


def test_a_remainder_is_that_of_c(state: State) -> None:
    for remainder, expected in ((0, [-4, 0, 4]), (1, [1, 5]), (-1, [-5, -1])):
        formula = _formula(f"n % 4 == {remainder}", state)
        assert formula is not None
        values = make_set(state.vocabulary, (), formula)
        (name,) = (x for x in state.vocabulary.atoms if state.vocabulary[x].text == "n")
        found = [v for v in range(-5, 6) if not values.intersect(_at(name, v)).is_empty()]
        assert found == expected


def _at(name: str, value: int) -> isl.Set:
    return isl.Set(f"[{name}] -> {{ [] : {name} = {value} }}")


@pytest.mark.parametrize(
    "text", ["k >= 1", "n % m == 0", "n % 0 == 0", "n % -4 == 0", "n >= 1 and", "n in m", "1.5 < n"]
)
def test_what_cannot_be_read_says_nothing(text: str, state: State) -> None:
    assert _formula(text, state) is None
