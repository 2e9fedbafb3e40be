"""Expressions are computed as C does."""

from __future__ import annotations

import pytest

from warpsmith.flows.stepping.conditions import Number, UnknownNameError, evaluate, names_in, parse


class Held:
    """Some variables, and an array."""

    def variable(self, name: str) -> Number:
        """Return a variable."""
        found: dict[str, Number] = {"x": -7, "in": 3, "threadIdx.x": 5, "f": 0.5}
        if name not in found:
            raise UnknownNameError(name)
        return found[name]

    def element(self, array: str, at: int) -> Number:
        """Return an element."""
        return [10, 20, 30, 40][at]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x / 2", -3),
        ("x % 4", -3),
        ("7 / -2", -3),
        ("7 % -2", 1),
        ("x == -7 && in != 4", 1),
        ("!(x < 0) || in >= 4", 0),
        ("a[in]", 40),
        ("a[in - 1] + threadIdx.x", 35),
        ("0x10 | 1 << 2", 20),
        ("~x & 3", 2),
        ("f * 4", 2.0),
        ("1 / f", 2.0),
    ],
)
def test_values_of_c(text: str, expected: Number) -> None:
    assert evaluate(parse(text), Held()) == expected


@pytest.mark.parametrize("text", ["x = 3", "f()", "a.b.c", "'s'", "x if x else 1", "a[1:2]", "1 < x < 3", "", "("])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no expression"):
        parse(text)


@pytest.mark.parametrize("text", ["x / 0", "x % 0", "y", "1 << 99", "f & 1"])
def test_what_has_no_value_is_said(text: str) -> None:
    with pytest.raises(UnknownNameError):
        evaluate(parse(text), Held())


def test_names_and_arrays_are_told_apart() -> None:
    assert set(names_in(parse("a[in] > threadIdx.x"))) == {("a", True), ("in", False), ("threadIdx.x", False)}
