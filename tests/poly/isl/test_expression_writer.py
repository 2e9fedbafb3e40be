"""Linear forms as C expressions: the same value for every variable that the type holds, without overflow on the way."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from msgspec import Struct

from tests.poly.host_value import value
from tests.poly.isl.evaluation import value_of
from warpsmith.base.source import SourceFile, Span
from warpsmith.poly.isl.expression_writer import ExpressionWriter, IslBound, IslVariable, NotWritableError
from warpsmith.poly.isl.polynomial import ZERO, Polynomial, atom, constant
from warpsmith.poly.isl.vocabulary import AtomVocabulary
from warpsmith.tree.nodes import Expr, Index, Name
from warpsmith.tree.printing.printer import nothing, print_expr
from warpsmith.tree.types import INT, LONG, LONG_LONG, UNSIGNED, UNSIGNED_LONG, Array, Scalar, Symbol

SPAN = Span(SourceFile("none.c", ""), 0, 0)


class Holding(Struct, frozen=True):
    """What holds: what a function says."""

    said: Callable[[Polynomial], bool]

    def holds(self, value: Polynomial) -> bool:
        return self.said(value)


class Place:
    """A writer over n, u (unsigned), z (unsigned long), w (long) and a loop's counter i (`up` or down)."""

    def __init__(self, said: Callable[[Polynomial], bool] = lambda _: False, *, sign: int = 1) -> None:
        self.vocabulary = AtomVocabulary()
        types = {"n": INT, "m": INT, "u": UNSIGNED, "z": UNSIGNED_LONG, "w": LONG}
        self.n, self.m, self.u, self.z, self.w = (self._parameter(*item) for item in types.items())
        self.i = atom("row0")
        counter = IslVariable(Symbol("i", "i", INT, "local"), sign)
        self.writer = ExpressionWriter(self.vocabulary, SPAN, {"row0": counter}, {}, (), Holding(said))

    def _parameter(self, name: str, type: Scalar) -> Polynomial:
        expr = Name(span=SPAN, type=type, symbol=Symbol(name, name, type, "parameter"))
        return atom(self.vocabulary.parameter(expr.symbol, name, expr, type))

    def text(self, polynomial: Polynomial) -> str:
        return print_expr(self.writer.sum(polynomial), nothing)


def small(limit: int) -> Callable[[Polynomial], bool]:
    """Every variable is known to lie in [-limit, limit]."""
    return lambda value: value.constant_term >= limit * sum(abs(c) for m, c in value.terms.items() if m)


@pytest.mark.parametrize(
    ("terms", "number", "narrow", "wide"),
    [
        ({"n": 1}, 0, "n", "n"),
        ({"n": 1}, -1, "n - 1", "n - 1LL"),
        ({"n": 1}, 2, "n + 2", "n + 2LL"),
        ({"n": -1}, 7, "7 - n", "7 - (long long)n"),
        ({"n": -1}, -7, "-n - 7", "-(long long)n - 7"),
        ({"n": 4, "m": -1}, 1, "4 * n - m + 1", "4LL * n - m + 1"),
        ({"n": 1, "m": 1}, 0, "m + n", "(long long)m + n"),
        ({}, -3, "-3", "-3"),
        ({}, 0, "0", "0"),
    ],
)
def test_sums_are_narrow_only_where_every_partial_sum_fits(
    terms: dict[str, int], number: int, narrow: str, wide: str
) -> None:
    def total(place: Place) -> Polynomial:
        named = {"n": place.n, "m": place.m}
        return sum((named[x].scale(c) for x, c in terms.items()), constant(number))

    assert _short(Place(small(1000)).text(total(Place()))) == _short(narrow)
    assert _short(Place().text(total(Place()))) == _short(wide)


def _short(text: str) -> str:
    return text.replace("(", "").replace(")", "").replace(" ", "")


def test_values_are_those_of_the_form() -> None:
    for said in (small(50), lambda _: False):
        place = Place(said)
        for terms in itertools.product((-2, 0, 1), (-1, 0, 3), (-4, 0, 5)):
            form = place.n.scale(terms[0]) + place.i.scale(terms[1]) + constant(terms[2])
            expr = place.writer.sum(form)
            for n, i in itertools.product((-3, 0, 8), repeat=2):
                expected = value_of(form, {**dict.fromkeys(place.n.atoms(), n), "row0": i})
                assert value(expr, {"n": n, "i": i}) == expected, print_expr(expr, nothing)


def test_a_product_beyond_an_int_has_a_wide_factor() -> None:
    place = Place()
    assert place.text(place.n + place.m.scale(2**20)) == "1048576LL * m + n"
    expr = place.writer.sum(place.m.scale(2**20).shift(1))
    assert isinstance(expr.type, Scalar) and expr.type.bits == 64


def test_unsigned_names_are_signed_before_they_are_subtracted() -> None:
    place = Place()
    assert place.text(place.u) == "(long long)u" and place.text(place.u.shift(-1)) == "(long long)u - 1"
    with pytest.raises(NotWritableError, match="z may not fit 64 bits"):
        place.writer.sum(place.z)
    known = Place(small(2**40))
    assert known.text(known.z) == "(long long)z"


def test_what_does_not_fit_64_bits_is_refused() -> None:
    place = Place()
    with pytest.raises(NotWritableError, match="2\\*w may not fit 64 bits"):
        place.writer.sum(place.w.scale(2))
    assert Place(small(10)).text(place.w.scale(2)) == "2 * w"
    with pytest.raises(NotWritableError):
        place.writer.sum(place.w.shift(1))
    unknown = atom(place.vocabulary.parameter("?", "hidden", None, None))
    with pytest.raises(NotWritableError):
        place.writer.sum(unknown)


def test_memory_is_not_read_again() -> None:
    place = Place()
    table = Name(span=SPAN, type=Array(INT, None, 4), symbol=Symbol("a", "a", Array(INT, None, 4), "global"))
    zero = place.writer.sum(ZERO)
    element = Index(span=SPAN, type=INT, base=table, index=zero)
    loaded = atom(place.vocabulary.parameter("a[0]", "a[0]", element, INT))
    with pytest.raises(NotWritableError, match="copy it to a local variable"):
        place.writer.sum(loaded)


def test_the_users_own_words_come_first() -> None:
    place = Place()
    size, bound = Symbol("SIZE", "SIZE", INT, "enumerator"), Symbol("LAST", "LAST", INT, "enumerator")
    names: list[Expr] = [Name(span=SPAN, type=INT, symbol=s) for s in (size, bound)]
    (n,) = place.n.atoms()
    writer = ExpressionWriter(place.vocabulary, SPAN, {}, {n: names[0]}, ((constant(99), names[1]),), Holding(small(9)))
    assert print_expr(writer.sum(place.n.shift(1)), nothing) == "SIZE + 1"
    assert writer.sum(constant(99)) is names[1] and writer.quote(place.n) is None
    assert print_expr(writer.sum(constant(98)), nothing) == "98"


@pytest.mark.parametrize("known", [True, False])
def test_floors(known: bool) -> None:
    place = Place(lambda v: v.number is None and known if v == place.n else small(100)(v))
    for divisor in (1, 3, 4):
        expr = place.writer.floor(place.n, divisor)
        assert ("?" in print_expr(expr, nothing)) == (divisor > 1 and not known)
        for n in range(0 if known else -9, 10):
            assert value(expr, {"n": n}) == n // divisor
    assert "?" not in print_expr(place.writer.floor(place.n.shift(1), 3, clamped=True), nothing)


def test_bounds_of_a_loop() -> None:
    place = Place(small(100))
    lower = place.writer.least([IslBound(place.n, 2), IslBound(ZERO, 1), IslBound(place.m.shift(-3), 1)])
    upper = place.writer.greatest([IslBound(place.n, 3), IslBound(place.m, 1)])
    for n, m in itertools.product(range(-6, 7), repeat=2):
        assert value(lower, {"n": n, "m": m}) == max(-(-n // 2), 0, m - 3)
        assert value(upper, {"n": n, "m": m}) == min(n // 3, m)
    negated = place.writer.least([IslBound(place.n, 3).negate()])
    assert [value(negated, {"n": n, "m": 0}) for n in (-4, 4)] == [2, -1]
    # beside a bound of zero a quotient of something negative may come out as it likes
    clamped = place.writer.least([IslBound(place.n, 2), IslBound(ZERO, 1)])
    alone = place.writer.least([IslBound(place.n, 2), IslBound(constant(-5), 1)])
    assert print_expr(clamped, nothing).count("?") < print_expr(alone, nothing).count("?")


@pytest.mark.parametrize("sign", [1, -1])
def test_conditions_have_one_name_on_the_left(sign: int) -> None:
    place = Place(small(100), sign=sign)
    rows = [
        place.i - place.n,
        place.n - place.i,
        place.n - place.i - constant(1),
        place.i - place.n - constant(1),
        place.i.scale(2) - place.n,
        place.n.scale(2) - constant(3),
        place.i - constant(4),
    ]
    for form in rows:
        for equality in (True, False):
            expr = place.writer.compare(form, equality=equality)
            for n, i in itertools.product(range(-5, 6), repeat=2):
                total = value_of(form, {**dict.fromkeys(place.n.atoms(), n), "row0": sign * i})
                assert bool(value(expr, {"n": n, "i": i})) == (total == 0 if equality else total >= 0)
    strict = place.writer.compare(place.n - place.i - constant(1), equality=False)
    assert print_expr(strict, nothing) == ("i < n" if sign == 1 else "i > -n")


def test_the_type_of_a_counter_bounds_it() -> None:
    up, down = Place(sign=1), Place(sign=-1)
    assert isinstance(up.writer.sum(up.i.shift(-1)).type, Scalar)
    for place in (up, down):
        assert place.writer.sum(place.i + place.n).type == LONG_LONG
