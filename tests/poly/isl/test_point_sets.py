"""Sets of row vectors: bounds that miss no point, exact rests, strides, and the order of rows."""

from __future__ import annotations

import islpy as isl
import pytest

from tests.poly.isl.evaluation import value_of
from warpsmith.poly.isl import point_sets
from warpsmith.poly.isl.point_sets import Points, QuotientError, drop_impossible
from warpsmith.poly.isl.polynomial import Polynomial, atom, constant

X, Y, N = atom("x"), atom("y"), atom("n")
BOX = range(-2, 12)
SQUARE = [(x, y) for x in BOX for y in BOX]


def points(condition: str, names: str = "x, y") -> Points:
    return Points(isl.Set(f"[n] -> {{ [{names}] : {condition} }}"))


def members(one: Points, n: int) -> set[tuple[int, int]]:
    fixed = one.values.fix_val(isl.dim_type.param, one.values.find_dim_by_name(isl.dim_type.param, "n"), isl.Val(n))
    return {
        at
        for at in SQUARE
        if not fixed.intersect(isl.Set(f"{{ [{at[0]}, {at[1]}] }}").align_params(fixed.get_space())).is_empty()
    }


def passes(test: point_sets.Test, at: tuple[int, int], n: int) -> bool:
    values = {"x": at[0], "y": at[1], "n": n}
    total = value_of(test.value, values)
    total += sum(floor.factor * (value_of(floor.value, values) // floor.divisor) for floor in test.floors)
    return total == 0 if test.equality else total >= 0


TRIANGLE = points("0 <= x < n and x <= y < n")
EVEN = points("0 <= x < n and y = 2x")
TWO = points("0 <= x < 3 and 0 <= y < 2 or 6 <= x < 9 and 0 <= y < 2")
EVERYTHING = points("true")


@pytest.mark.parametrize("one", [TRIANGLE, EVEN, TWO, points("0 <= x < 7 and x mod 3 = 1 and y = x")])
def test_bounds_miss_no_point_and_the_rest_is_exact(one: Points) -> None:
    hull = one.hull(EVERYTHING)
    rest = one.rest(EVERYTHING)
    inside = members(one, 5)
    assert inside
    for at in SQUARE:
        assert at not in inside or all(passes(test, at, 5) for test in hull)
        assert (at in inside) == any(all(passes(test, at, 5) for test in piece) for piece in rest)


def test_what_is_known_is_not_tested_again() -> None:
    known = points("0 <= x and y < n")
    assert len(TRIANGLE.hull(known)) == len(TRIANGLE.hull(EVERYTHING)) - 2 == 1
    assert known.rest(known) == [[]] and TRIANGLE.rest(TRIANGLE) == [[]]


def test_a_quotient_inside_a_quotient_is_an_error() -> None:
    nested = points("(2*floor(x/5) + y) mod 7 <= 2")
    with pytest.raises(QuotientError):
        nested.rest(EVERYTHING)


def test_rows_are_freed() -> None:
    assert members(TRIANGLE.upto(0), 4) == {(x, y) for x in range(4) for y in BOX}
    assert TRIANGLE.upto(1).values.is_equal(TRIANGLE.values)
    assert members(TRIANGLE.only([1]), 4) == {(x, y) for y in range(4) for x in BOX}
    assert members(TRIANGLE.drop_row(1), 4) == {(x, 0) for x in range(4)}
    assert members(TRIANGLE.only([0, 1]), 3) == members(TRIANGLE, 3)


def test_points_where_a_condition_holds() -> None:
    assert members(TRIANGLE.where(X.shift(-2)), 4) == {(2, 2), (2, 3), (3, 3)}
    assert members(TRIANGLE.where(Y - X, equality=True), 3) == {(0, 0), (1, 1), (2, 2)}
    assert members(TRIANGLE.multiple(X + Y, 3), 3) == {(0, 0), (1, 2)}
    fresh = TRIANGLE.where(atom("k") - X)
    assert "k" in str(fresh.values), "a name that the points do not have yet is a parameter"


@pytest.mark.parametrize(
    ("value", "holds"),
    [
        (X, True),
        (N - Y, True),
        (N - Y - constant(1), True),
        (N - Y - constant(2), False),
        (Y - X, True),
        (X - Y, False),
    ],
)
def test_what_holds_everywhere(value: Polynomial, holds: bool) -> None:
    assert TRIANGLE.holds(value) == holds
    assert TRIANGLE.holds(value) == holds, "the answer is remembered"


def test_what_is_always_zero() -> None:
    assert EVEN.always(Y - X.scale(2)) and EVEN.always(constant(0))
    assert not EVEN.always(Y - X) and not TRIANGLE.always(Y - X)
    nothing = points("x > x")
    assert nothing.empty and nothing.holds(constant(-1)) and not TRIANGLE.holds(constant(-1)) and not TRIANGLE.empty


def test_sets_meet_and_join() -> None:
    low, high = points("x < 2"), points("x >= 2")
    assert low.apart(high) and not low.apart(TRIANGLE)
    assert members(TRIANGLE.meet(high), 4) == {(2, 2), (2, 3), (3, 3)}
    assert members(TRIANGLE.meet(low).join([TRIANGLE.meet(high)]), 4) == members(TRIANGLE, 4)


def test_the_order_of_a_row() -> None:
    assert points("x = 1 and 0 <= y < 3").before(points("x = 1 and 3 <= y < 5"), 1)
    assert not points("x = 1 and 0 <= y < 4").before(points("x = 1 and 3 <= y < 5"), 1)
    assert points("x = 1 and 9 <= y").before(points("x = 2 and y = 0"), 1), "no point agrees in the row before"
    assert points("x = 1").before(points("x = 2"), 0) and not points("x = 2").before(points("x = 2"), 0)


def test_strides() -> None:
    assert points("exists k : x = 4k + 3 and y = 0").stride(0) == (4, constant(-1)), "-1 is 3 modulo 4"
    stride, offset = points("exists k : y = 2k + x").stride(1)
    assert (stride, offset) in ((2, X), (2, -X)), "y is x modulo 2"
    assert TRIANGLE.stride(0) == (1, None)


def test_parameters_that_are_spared() -> None:
    context = isl.Set("[n] -> { [] : 0 <= n <= 9 }")
    ends = drop_impossible(context, isl.Set("[n] -> { [i] : n >= 8 and i = n }"))
    assert ends.is_equal(isl.Set("[n] -> { [] : 0 <= n <= 7 }"))
    assert drop_impossible(context, isl.Set("[n] -> { [i] : n = 4 and i = n }")).is_equal(context), (
        "that statements two pieces"
    )


def test_points_of_times_and_of_a_context() -> None:
    domain, times = isl.Set("[n] -> { [i] : 0 <= i < n }"), isl.Map("{ [i] -> [2i, i + 1] }")
    assert members(Points.of(domain, times, ("x", "y")), 3) == {(0, 1), (2, 2), (4, 3)}
    whole = Points.context(isl.Set("[n] -> { : n = 3 }"), ("x", "y"))
    assert whole.holds(N - constant(3)) and not whole.holds(X)
