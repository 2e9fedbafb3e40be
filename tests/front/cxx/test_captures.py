"""Captured copies stand for the variable only where that never changes."""

from __future__ import annotations

import pytest

from tests.front.conftest import Load, found
from tests.front.cxx.test_bodies import _use, _written
from warpsmith.tree.nodes import For, Return, While
from warpsmith.tree.walk import loops


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("auto f = [k](double a) { return a * k; }; return f(x);", "x * k"),
        ("auto f = [=](double a) { return a * k; }; return f(x);", "x * k"),
        ("auto f = [k](double a) { return a * k; }; k = 2; return f(x);", ""),
        ("auto f = [=](double a) { return a * k; }; k++; return f(x);", ""),
        ("auto f = [k](double a) mutable { k += a; return k; }; return f(x);", ""),
        ("auto f = [z = k + 1](double a) { return a * z; }; return f(x);", ""),
        ("double &r = k; auto f = [k](double a) { return a * k; }; r = 2; return f(x);", ""),
        ("double &r = k; auto f = [r](double a) { return a * r; }; return f(x);", ""),
    ],
)
def test_a_captured_copy_stands_for_what_never_changes(load: Load, text: str, written: str) -> None:
    made = _written(load, text)
    assert made == written if written else "f(x)" in made


def test_loops_behind_a_captured_copy_are_seen(load: Load) -> None:
    text = "auto f = [k](double a) { return a * k; }; for (int j = 0; j < i; j++) { while (x > 0) x = f(x); } return x;"
    function = _use(load, text)
    assert [type(loop) for loop, _ in loops(function.body)] == [For, While]
    assert len(found(function.body, Return)) == 1


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("auto f = [&](double a) { return a * k; }; return f(x);", "x * k"),
        ("auto f = [k, i](double a) { return a * k + i; }; return f(x);", "x * k + i"),
        ("static double s = 2; auto f = [=](double a) { return a * s; }; return f(x);", ""),
        ("double *q = &k; auto f = [k](double a) { return a * k; }; *q = 2; return f(x);", ""),
        ("volatile double s = 2; auto f = [s](double a) { return a * s; }; return f(x);", ""),
    ],
)
def test_only_numbers_of_the_function_itself_stay(load: Load, text: str, written: str) -> None:
    made = _written(load, text)
    assert made == written if written else "f(x)" in made
