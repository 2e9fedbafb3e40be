"""Comparisons of bounds, against numbers; sections as clauses write them."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.isl.polynomial import Polynomial, atom, constant
from warpsmith.poly.mapped.extents import Extent, at_most, below, named_extent, simpler_bound, upper_bound
from warpsmith.tree.nodes import Expr, Return
from warpsmith.tree.types import DOUBLE, INT, Array, Pointer, Symbol

N, M = (Symbol(name, f"c:{name}", INT, "parameter") for name in "nm")
NAMES = {"n": N, "m": M}
POINTER = Pointer(DOUBLE)
BOUNDS = (
    "0", "1", "n", "n - 1", "n + 1", "n/2", "n/2 + 1", "2*n", "n*m", "4*(n/4)", "n*m - n", "(n + 3)/4", "4*((n + 3)/4)",
    "m", "n/m", "m*(n/m)", "m*(n/2)", "n*(n/m)", "m*((n + m - 1)/m)", "2*m*(n/(2*m))", "m*(n/(2*m))",
)  # fmt: skip


def value(text: str, n: int, m: int) -> int:
    return int(eval(text.replace("/", "//"), {"n": n, "m": m}))


def extent(section: str, type: Pointer | Array = POINTER) -> Extent | None:
    return named_extent(section, type, {}, NAMES.get)


def bound(text: str) -> Polynomial:
    found = extent(f"[0:{text}]")
    assert found is not None
    return found.upper


@pytest.mark.parametrize(("one", "other"), list(itertools.product(BOUNDS, BOUNDS)))
def test_what_is_said_of_two_bounds_holds_for_all_sizes(one: str, other: str) -> None:
    sizes = list(itertools.product(range(1, 12), range(1, 6)))
    if at_most(bound(one), bound(other)):
        assert all(value(one, *size) <= value(other, *size) for size in sizes)
    if below(bound(one), bound(other)):
        assert value(one, 400, 300) < value(other, 400, 300)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("n/2", "n"),
        ("n - 1", "n"),
        ("0", "n*m"),
        ("n", "4*((n + 3)/4)"),
        ("n/2", "n/2"),
        ("n", "2*n"),
        ("m*(n/m)", "n"),
        ("n", "m*((n + m - 1)/m)"),
        ("2*m*(n/(2*m))", "n"),
        ("m*(n/(2*m))", "n"),
        ("n*m/m", "n"),
        ("0", "4*(n/4)"),
        ("4*(n/4)", "n"),
        ("0", "m*(n/m)"),
    ],
)
def test_a_bound_is_found_to_be_no_greater(one: str, other: str) -> None:
    assert at_most(bound(one), bound(other))


@pytest.mark.parametrize(("one", "other"), [("m*(n/2)", "n"), ("n", "m*(n/m)"), ("n/m", "m"), ("n*(n/m)", "n")])
def test_a_bound_that_may_be_greater_is_seen(one: str, other: str) -> None:
    assert not at_most(bound(one), bound(other))


def test_sections_are_counted_in_innermost_elements() -> None:
    rows = Array(Array(DOUBLE, None, 8), None, 4)
    assert extent("[1:2]", rows) == Extent(bound("8"), bound("24"))
    assert extent("[0:4][0:8]", rows) == extent("", rows) == Extent(bound("0"), bound("32"))
    assert extent("[0:n][0:4]", rows) is None and extent("[0:k]") is None and extent("[0:f(n)]") is None
    assert extent("[3]") == Extent(bound("3"), bound("4"))


def test_extents_hold_miss_and_meet_others() -> None:
    whole, half, rest = extent("[0:n]"), extent("[0:n/2]"), extent("[n:m]")
    assert whole is not None and half is not None and rest is not None
    assert whole.holds(half) and not half.holds(whole) and whole.meets(half)
    assert whole.misses(rest) and not whole.meets(rest) and not whole.misses(half)
    assert whole.text == "[0, n)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n > 0 ? n : 0", None),
        ("m >= 1 && 8 * m <= n ? 8 * m : n < 8 * m && n >= 1 ? n : 0", "8*m"),
        ("m >= 1 && 8 * m <= n ? 8 * m : n >= 1 ? n : 0", "n"),
        ("m >= 1 ? 8 * m : n < 8 * m && n >= 1 ? n : 0", "8*m"),
        ("m >= 1 && m / 3 <= n ? m / 3 : n >= 1 ? n : 0", "n"),
        ("n >= 2147483649 ? 2147483648 : n >= 1 && n <= 2147483648 ? n : 0", "n"),
        ("n >= 5 ? 4 : n >= 1 && n <= 4 ? n : 0", "4"),
        ("n >= 3 ? 4 : n >= 1 && n <= 3 ? n : 0", None),
        ("4 >= n ? m : n >= 1 ? n : 0", None),
        # without the test, or with another one, neither bounds both
        ("m >= 1 ? 8 * m : n < 9 * m && n >= 1 ? n : 0", None),
        ("m >= 1 && n <= 8 * m ? 8 * m : n >= 1 ? n : 0", None),
        ("m >= 1 || 8 * m <= n ? 8 * m : n >= 1 ? n : 0", None),
        ("m >= 1 && 8 * m > n ? 8 * m : n >= 1 ? n : 0", None),
    ],
)
def test_the_least_of_several_bounds(text: str, expected: str | None, tmp_path: Path) -> None:
    returned, parameters = returned_by("int", text, tmp_path)
    names = {p: atom(name) for p, name in zip(parameters, (N.key, M.key), strict=True)}
    found = simpler_bound(returned, names)
    if expected is None:
        assert found is None
        return
    assert found == bound(expected)
    for n, m in itertools.product(range(30), range(12)):
        python = re.sub(
            r"(.*?) \? (.*?) : (.*)", r"(\2) if (\1) else \3", text.replace("&&", "and").replace("||", "or")
        )
        python = re.sub(r"else (.*?) \? (.*?) : (.*)", r"else (\2) if (\1) else \3", python)
        assert value(python, n, m) <= value(expected, n, m)


STRIDES = "m >= 1 && n >= 1 ? 3 * n + m : n >= 1 && m + 1 <= 0 ? 3 * n : m == 0 ? n : 0"


@pytest.mark.parametrize(
    ("text", "m", "expected"),
    [
        (STRIDES, 2, "3*n + 2"),
        (STRIDES, 0, "n"),
        (STRIDES, -4, "3*n"),
        ("m > 1 || m != 1 ? n : 2 * n", 1, "2*n"),
        ("m < 1 || n > 3 ? n : n", 1, "n"),
    ],
)
def test_a_choice_by_a_known_number_is_made(text: str, m: int, expected: str, tmp_path: Path) -> None:
    returned, (n, other) = returned_by("int", text, tmp_path)
    assert upper_bound(returned, {n: atom(N.key), other: constant(m)}) == bound(expected)


@pytest.mark.parametrize(("type", "text"), [("int", "m >= n ? n : 2 * n"), ("unsigned", "m - 2 >= 0 ? n : 2 * n")])
def test_a_choice_stays_open(type: str, text: str, tmp_path: Path) -> None:
    returned, (n, other) = returned_by(type, text, tmp_path)
    found = upper_bound(returned, {n: atom(N.key), other: constant(1)})
    assert found not in (bound("n"), bound("2*n"))


def returned_by(type: str, text: str, folder: Path) -> tuple[Expr, tuple[Symbol, ...]]:
    file = folder / "a.c"
    file.write_text(f"int f(int n, {type} m) {{ return {text}; }}")
    (function,) = load_program([str(file)], FrontOptions()).program.units[0].functions
    returned = function.body.statements[0]
    assert isinstance(returned, Return) and returned.value is not None
    return returned.value, function.parameters
