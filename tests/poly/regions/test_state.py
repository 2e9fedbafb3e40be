"""The state of the walk: side conditions are proved, guarded or remembered; values are forgotten and met."""

from __future__ import annotations

import functools
import itertools

import pytest

from tests.poly.analysis import assumed, facts_of, program_of
from tests.poly.programs import function
from tests.poly.regions.modelled import modelled
from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved
from warpsmith.poly.isl.formula import TRUE, at_least, both
from warpsmith.poly.isl.host import condition_text
from warpsmith.poly.isl.polynomial import Polynomial, atom, constant
from warpsmith.poly.isl.space import Set, make_set
from warpsmith.poly.regions.state import PointerValue, State
from warpsmith.tree.nodes import Expr, Function, Name
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.program import Assumption
from warpsmith.tree.types import DOUBLE, INT, Symbol, Type
from warpsmith.tree.walk import walk

TEXT = """struct s { int n, *k; double *u; };
void f(int n, int m, unsigned u, volatile int v, double x, int *k, double *a, struct s *s, struct s t, int w) {
  (void)(n + m + u + v + x + k[0] + k[n] + s->n + t.n + s->k[1] + *k + w + k[w]); }"""


@functools.cache
def _function() -> Function:
    return function(program_of(TEXT), "f")


def _named(text: str) -> Expr:
    return next(n for n in walk(_function()) if isinstance(n, Expr) and n.span.text == text)


def _symbol(name: str) -> Symbol:
    return next(p for p in _function().parameters if p.name == name)


def make(
    *,
    guards: bool = True,
    written: str = "",
    stored: str = "",
    kinds: tuple[Type, ...] | None = (),
    exposed: str = "",
) -> State:
    def symbols(text: str) -> frozenset[Symbol]:
        return frozenset(map(_symbol, text.split()))

    return State(
        Span(_function().span.file, 0, 1),
        guards,
        symbols(written),
        symbols(stored),
        kinds,
        frozenset(),
        frozenset(),
        symbols(exposed),
    )


def value(state: State, text: str) -> Polynomial:
    found = state.affine.exact(_named(text))
    assert found is not None
    return found


# --- the oracle


def test_variables_that_nothing_writes_are_parameters() -> None:
    state = make(written="w")
    assert state.scalar(_name("n")) == value(state, "n") and state.scalar(_name("w")) is None
    assert state.scalar(_name("v")) is None, "it is volatile"
    state.values[_symbol("w")] = constant(4)
    assert state.scalar(_name("w")) == constant(4)
    state.constants = {_symbol("m"): 7}
    assert state.scalar(_name("m")) == constant(7)


def _name(name: str) -> Name:
    found = _named(name)
    assert isinstance(found, Name)
    return found


@pytest.mark.parametrize(
    ("text", "state", "known"),
    [
        ("k[0]", {}, True),
        ("k[n]", {}, True),
        ("s->n", {}, True),
        ("s->k[1]", {}, True),
        ("*k", {}, True),
        ("k[w]", {"written": "w"}, False),
        ("k[0]", {"written": "k"}, False),
        # a store may change it, unless its type says that it cannot
        ("k[0]", {"stored": "a", "kinds": (DOUBLE,)}, True),
        ("k[0]", {"stored": "a", "kinds": (DOUBLE, INT)}, False),
        ("k[0]", {"stored": "a", "kinds": None}, False),
        ("k[0]", {"kinds": None}, True),
        ("t.n", {"stored": "a", "kinds": (INT,)}, True),
        ("t.n", {"stored": "t", "kinds": (INT,)}, False),
        ("s->k[1]", {"stored": "a", "kinds": (INT,)}, False),
        # a variable that a pointer may name is written by its own name
        ("*k", {"written": "w", "exposed": "w"}, False),
        ("k[0]", {"written": "w", "exposed": "w", "kinds": None}, False),
        ("s->n", {"written": "t", "exposed": "t"}, False),
        ("*k", {"written": "x", "exposed": "x"}, True),
    ],
)
def test_loads_that_keep_their_value(text: str, state: dict[str, str], known: bool) -> None:
    here = make(**state)  # type: ignore[arg-type]
    assert (here.load_parameter(_named(text)) is not None) == known
    assert here.load_parameter(_named(text)) == here.load_parameter(_named(text)), "one load is one parameter"


def test_equal_loads_are_one_parameter_and_others_are_not() -> None:
    state = make()
    loads = [state.load_parameter(_named(x)) for x in ("k[0]", "k[n]", "s->n", "t.n", "s->k[1]", "*k")]
    assert len({str(x) for x in loads}) == 6
    assert state.load_parameter(_named("x")) is None, "no integer"


# --- side conditions


def test_a_condition_is_proved_by_types_or_on_the_path() -> None:
    state = make()
    n, u = value(state, "n"), value(state, "u")
    assert state.require((u,), _named("u")) and state.require((constant(3),), _named("u"))
    assert state.require((n.shift(2**31),), _named("n")) and not state.assumptions
    on_path = at_least(n, constant(5))
    assert state.require_on(on_path, (n.shift(-5),), "n") and not state.assumptions and not state.unproved
    assert state.require_on(on_path, (n.shift(-5),), "n"), "it is remembered"


def test_what_is_not_proved_is_guarded() -> None:
    state = make()
    n = value(state, "n")
    assert state.require((n.shift(-3),), _named("n"))
    (guard,) = state.assumptions
    assert (guard.text, guard.kind) == ("n >= 3", "guarded")
    assert guard.condition is not None and print_expr(guard.condition) == "n >= 3"
    assert condition_text(state.vocabulary, state.context) == "n >= 3"
    assert state.require((n.shift(-2),), _named("n")) and len(state.assumptions) == 1, "the context says so"


def test_without_guards_it_is_remembered() -> None:
    state = make(guards=False)
    n = value(state, "n")
    assert not state.require((n.shift(-3),), _named("n"))
    assert state.unproved == ["n may leave its range"] and not state.assumptions and state.context == TRUE
    assert not state.exclude(_wrong(state), TRUE)


def _wrong(state: State) -> Set:
    return make_set(state.vocabulary, (), at_least(constant(0), value(state, "n")))


def test_a_guard_that_nothing_can_meet_is_none() -> None:
    state = make()
    n, m = value(state, "n"), value(state, "m")
    state.context = at_least(constant(2), n)
    assert not state.require((n.shift(-3),), _named("n")) and not state.assumptions
    assert not state.require((constant(-1),), _named("n"))
    assert state.require((m - n,), _named("m")) and [a.text for a in state.assumptions] == ["n <= m"]


def test_products_of_counters_are_bounded_by_their_extremes() -> None:
    inner = "for (unsigned j = 0; j < n; j++) a[i * n + j] = 0;"
    text = f"void g(unsigned n, double *a) {{ for (unsigned i = 0; i < n; i++) {inner} }}"
    region, _ = modelled(program_of(text), "g/i")
    assert [a.text for a in region.assumptions] == ["n*n <= 4294967296"]
    unguarded, state = modelled(program_of(text), "g/i", guards=False)
    assert not unguarded.assumptions and unguarded.unproved
    assert not [a for a in state.assumptions if "n" in a.text]


def test_sizes_that_are_assumed_positive() -> None:
    state = make()
    (name,) = value(state, "n").atoms()
    state.assume_positive(name)
    state.assume_positive(name)
    assert [a.text for a in state.assumptions] == ["n >= 1"]
    silent = make(guards=False)
    (other,) = value(silent, "n").atoms()
    silent.assume_positive(other)
    assert not silent.assumptions


def test_ranges_of_types_and_products() -> None:
    state = make()
    n, m, u = (value(state, x) for x in ("n", "m", "u"))
    product = state.vocabulary.product((*n.atoms(), *m.atoms()))
    assert condition_text(state.vocabulary, state.ranges(u.atoms())) == "u >= 0 && u <= 4294967295"
    assert state.ranges(frozenset({product})) == TRUE, "nothing is known of the signs of n and m"
    state.context = both([at_least(n, constant(1)), at_least(m, constant(1))])
    assert condition_text(state.vocabulary, state.ranges(frozenset({product}))) == "m <= m*n && n <= m*n"
    square = state.vocabulary.product((*u.atoms(), *u.atoms()))
    assert condition_text(state.vocabulary, state.ranges(frozenset({square}))) == "u*u >= 0"


def test_conditions_of_a_scope_are_taken_as_they_are() -> None:
    state = make()
    holds = _named("n + m")
    condition = Assumption("n + m", "guarded", holds)
    state.take([condition, Assumption("granted", "granted")])
    assert state.context != TRUE and not state.assumptions and state.guards
    state.assume(Assumption("n >= 1", "granted"), at_least(value(state, "n"), constant(1)))
    state.assume(Assumption("n >= 1", "granted"), TRUE)
    assert [a.text for a in state.assumptions] == ["n >= 1"]


RANGES = """void f(int n, int k, int m, int l, double a[8][8]) {
  for (int i = m; i < l; i++) {
    for (int j = m; j < (n < k ? n : k); j++) a[i][j] = 1;
    for (int j = n; j < k; j++) a[i][j] = 2;
  } }"""


def _elements_repeat(n: int, k: int, m: int, rows: int) -> bool:
    """Whether two iterations of i write one element, counted in the memory that the rows share."""
    inner = [*range(m, min(n, k)), *range(n, k)]
    written = [{8 * i + j for j in inner} for i in range(m, rows)]
    return any(one & other for position, one in enumerate(written) for other in written[:position])


def test_each_end_of_a_range_has_a_guard_of_its_own() -> None:
    # beside `n <= 8 || k <= 8`, what is wrong is a union that no one comparison excludes
    facts = facts_of(RANGES)["f/i"]
    assert isinstance(facts.verdict, Proved)
    guards = assumed(facts)
    assert {"n >= 0", "k <= 8"} <= {part for guard in guards for part in guard.split(" && ")}
    test = " and ".join(f"({guard})" for guard in guards).replace("||", "or").replace("&&", "and")
    held = repeated = 0
    for n, k, m in itertools.product(range(-9, 12), range(-9, 12), range(-2, 12)):
        meets = bool(eval(test, {}, {"n": n, "k": k, "m": m, "l": m + 3}))
        held += meets
        repeated += not meets and _elements_repeat(n, k, m, m + 3)
        assert not (meets and _elements_repeat(n, k, m, m + 3)), (n, k, m)
    assert held > 500 and repeated > 500


# --- values of variables


def test_paths_that_meet_keep_what_they_agree_on() -> None:
    state = make()
    n, m, w, a, k = (_symbol(x) for x in ("n", "m", "w", "a", "k"))
    state.values = {n: constant(1), m: constant(2), w: constant(3)}
    state.pointers = {a: PointerValue(a, "", ()), k: PointerValue(k, "", ())}
    other = state.snapshot()
    state.values |= {m: constant(9)}
    state.pointers |= {k: PointerValue(a, "", ())}
    del state.values[w]
    state.merge(other)
    assert state.values == {n: constant(1), m: None, w: None}
    assert state.pointers == {a: PointerValue(a, "", ()), k: None}
    state.forget(frozenset({n}))
    assert state.values[n] is None and state.pointers[n] is None and other[0][n] == constant(1)


def test_a_copy_learns_alone() -> None:
    state = make()
    own = state.copy()
    assert own.require((value(own, "n").shift(-3),), _named("n"))
    own.values[_symbol("n")] = None
    assert not state.assumptions and not state.values and not state.vocabulary.atoms and state.context == TRUE


def test_counters_behind_quotients() -> None:
    state = make()
    counter = state.vocabulary.counter(Symbol("i", "i", INT, "local"), "loop", None)
    half, _ = state.vocabulary.quotient("half", "i/2")
    state.vocabulary.define(half, at_least(atom(counter), atom(half).scale(2)))
    assert state.counters_of(at_least(atom(half), constant(0))) == (counter,)
    assert state.counters_of(at_least(value(state, "n"), constant(0))) == ()
