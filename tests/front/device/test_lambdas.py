"""A lambda that is called where it is made is a function that gets what it has captured."""

from __future__ import annotations

import pytest

from tests.front.test_kernels import boxes, functions, load
from warpsmith.tree.nodes import Call, Name
from warpsmith.tree.types import FunctionType, Pointer
from warpsmith.tree.walk import walk

HEAD = "__global__ void k(int *a, int n) { int s = 0, t[4] = {1}; "


@pytest.mark.parametrize(
    ("text", "captured"),
    [
        ("auto f = [=](int i) { return a[i] * n; }; a[0] = f(1);", ["a", "n"]),
        ("auto f = [&](int i) { s += i; return n; }; a[0] = f(1);", ["&s", "n"]),
        ("auto f = [n, &s](int i) { s += i; return n; }; a[0] = f(1);", ["&s", "n"]),
        ("auto f = [](int i) { return i; }; a[0] = f(1);", []),
        ("auto f = [=](int i) { return t[i]; }; a[0] = f(1);", ["&t"]),
        ("auto f = [=](int i) { int own = i; return own; }; a[0] = f(1);", []),
    ],
)
def test_captures_are_handed_over_before_the_arguments(text: str, captured: list[str]) -> None:
    unit = load(HEAD + text + " }")
    assert not boxes(unit)
    (call,) = [
        n for n in walk(functions(unit)["k"].body)
        if isinstance(n, Call) and isinstance(n.function, Name) and n.function.symbol.name.startswith("lambda@")
    ]  # fmt: skip
    assert isinstance(call.function, Name)
    made = next(f for f in functions(unit).values() if f.symbol == call.function.symbol)
    assert isinstance(made.symbol.type, FunctionType)
    names = [("&" if isinstance(p.type, Pointer) and p.type.reference else "") + p.name for p in made.parameters[:-1]]
    assert sorted(names) == sorted(captured) and made.parameters[-1].name == "i"
    assert len(call.arguments) == len(captured) + 1
    assert len(made.symbol.type.parameters) == len(made.parameters)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("auto f = [m = n + 1](int i) { return m + i; }; a[0] = f(1);", "a lambda that captures an expression"),
        ("auto f = [=](int i) { return n + i; }; n = 3; a[0] = f(1);", "a lambda that has a copy of n"),
        ("auto f = [n](int i) mutable { n += i; return n; }; a[0] = f(1);", "a lambda that has a copy of n"),
        ("auto f = [t](int i) { return t[i]; }; t[0] = 5; a[0] = f(1);", "a lambda that has a copy of t"),
        ("auto f = [=](int i) { return s + i; }; int *q = &s; *q = 2; a[0] = f(1);", "a lambda that has a copy of s"),
    ],
)
def test_a_copy_that_may_differ_is_a_box(text: str, reason: str) -> None:
    found = boxes(load(HEAD + text + " }"))
    assert found and found[0].startswith(reason)


def test_an_element_behind_a_copied_pointer_may_be_written() -> None:
    assert not boxes(load(HEAD + "auto f = [=](int i) { a[i] = n; }; a[2] = 5; f(1); }"))
