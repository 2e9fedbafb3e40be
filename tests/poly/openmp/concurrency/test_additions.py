"""Statements that add, or set to zero: what they add to, and which are something else."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function
from warpsmith.poly.openmp.concurrency.additions import additions_of, cleared_in, is_sum_of, place_of
from warpsmith.tree.nodes import Stmt
from warpsmith.tree.types import Scalar

_DECLARED = """
#include <string.h>
struct two { double re; int few : 3; };
union both { double re; long im; };
void f(int i, int k, double x, double *p)
{
    double a[8], b[4][8]; struct two s; union both u;
"""


def _statement(text: str) -> Stmt:
    return function(program_of(f"{_DECLARED} {text} }}"), "f").body.statements[-1]


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("a[i] += x;", "a[i] + x"),
        ("a[i]++;", "a[i] + 1"),
        ("--a[i];", "a[i] + 1"),
        ("a[i] -= x;", "a[i] + x"),
        ("a[i] = a[i] + x;", "a[i] + x"),
        ("a[i] = x + a[i];", "a[i] + x"),
        ("a[i] += x, b[1][k] += 2;", "a[i] + x, b[1][k] + 2"),
        ("a[i] = a[k] + x;", "-"),
        ("a[i] = x - a[i];", "-"),
        ("a[i] *= x;", "-"),
        ("a[i] += x, a[k] = 1;", "-"),
    ],
)
def test_additions(text: str, added: str) -> None:
    found = additions_of(_statement(text))
    shown = [(f.target.span.text, "1" if f.value is None else f.value.span.text) for f in found or ()]
    assert ("-" if found is None else ", ".join(f"{a} + {b}" for a, b in shown)) == added


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("a[i] = 0;", ["a[i]"]),
        ("a[i] = 0.0, b[1][k] = 0;", ["a[i]", "b[1][k]"]),
        ("memset(a, 0, sizeof a);", ["a"]),
        ("memset(a, 0, 8 * sizeof(double));", ["a"]),
        ("memset(&s, 0, sizeof s);", ["s"]),
        ("memset(b[2], 0, sizeof b[2]);", ["b[2]"]),
        ("memset(a, 0, 7 * sizeof(double));", []),
        ("memset(a, 1, sizeof a);", []),
        ("memset(p, 0, sizeof p);", []),
        ("a[i] = 1;", []),
        ("a[i] = 0, a[k] = x;", []),
    ],
)
def test_what_is_set_to_zero(text: str, places: list[str]) -> None:
    assert [place.span.text for place in cleared_in(_statement(text))] == places


@pytest.mark.parametrize(("text", "whole"), [("s.re = 0;", True), ("s.few = 0;", False), ("u.re = 0;", False)])
def test_a_member_with_memory_of_its_own_is_a_place(text: str, *, whole: bool) -> None:
    (place,) = cleared_in(_statement(text))
    assert (place_of(place) is not None) == whole


def test_sums_lose_nothing_in_numbers_of_the_same_kind_that_are_as_wide() -> None:
    double, single = Scalar("double", 64, "float"), Scalar("float", 32, "float")
    whole, small, truth = (
        Scalar("int", 32, "signed"),
        Scalar("unsigned char", 8, "unsigned"),
        Scalar("_Bool", 8, "bool"),
    )
    assert is_sum_of(double, single) and is_sum_of(whole, whole) and is_sum_of(whole, small)
    assert not is_sum_of(single, double) and not is_sum_of(small, whole) and not is_sum_of(double, whole)
    assert not is_sum_of(truth, truth)
