"""How the steps of two accesses are compared: members tell elements apart, tables and rows and views do not."""

from __future__ import annotations

import pytest

from tests.poly.analysis import facts_of
from warpsmith.base.verdict import Proved
from warpsmith.poly.dependences.dependences import common_steps
from warpsmith.poly.isl.polynomial import ZERO, atom
from warpsmith.poly.regions.region import ROW_STEP, Element, MemberStep, RowStep, TableStep, ViewStep

_I = atom("i")
_X, _Y, _P, _Q = MemberStep("x"), MemberStep("y"), TableStep("p"), TableStep("q")


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ((_I, _X), (ZERO, _X), (2, True)),
        ((_I, _X), (ZERO, _Y), None),
        ((_X, _I), (_I,), (0, False)),
        ((_P, _I), (_P, ZERO), (2, True)),
        ((_P, _I), (_Q, _I), (0, False)),
        ((_P, _I), (_X, _I), (0, False)),
        ((_P, _I, ROW_STEP, _I), (_P, _I, RowStep(), ZERO), (4, True)),
        ((ViewStep(0), _I), (ViewStep(1), _I), (0, False)),
        ((_I,), (ViewStep(1), _I), (0, False)),
    ],
)
def test_common_steps(first: Element, second: Element, found: tuple[int, bool] | None) -> None:
    assert common_steps(first, second) == found
    assert common_steps(second, first) == found


def test_two_tables_may_name_one_element() -> None:
    text = "void f(int n, double *restrict a, const int *p, const int *q) { for (int i = 0; i < n; i++) a[p[i]] = %s; }"
    granted = ("injective(p)", "injective(q)")
    assert isinstance(facts_of(text % "a[p[i]] + 1", *granted)["f/i"].verdict, Proved)
    assert not isinstance(facts_of(text % "a[q[i]] + 1", *granted)["f/i"].verdict, Proved)


def test_steps_have_the_words_of_messages() -> None:
    assert [step.text for step in (_X, _P, ROW_STEP)] == ["x", "@p", "@"]
