"""Sets of values compute as C does, and know nothing where it does not say."""

from __future__ import annotations

import pytest

from warpsmith.front.clang.device.launches.numbers import (
    UNKNOWN,
    Number,
    call_function,
    fit_type,
    join,
    only,
    operate,
    operate_one,
)


def values(*numbers: Number | None) -> frozenset[Number | None]:
    return frozenset(numbers)


@pytest.mark.parametrize(
    ("symbol", "left", "right", "result"),
    [
        ("/", values(-7), values(2), values(-3)),
        ("%", values(-7), values(2), values(-1)),
        ("/", values(7), values(0), UNKNOWN),
        ("/", values(1.0), values(4), values(0.25)),
        ("<<", values(1), values(70), UNKNOWN),
        ("+", values(1, None), values(2, 3), values(3, 4, None)),
        ("==", values(4), values(4), values(1)),
        ("^^", values(4), values(4), UNKNOWN),
    ],
)
def test_operators(
    symbol: str, left: frozenset[Number | None], right: frozenset[Number | None], result: object
) -> None:
    assert operate(symbol, left, right) == result


def test_too_many_values_are_none() -> None:
    assert join(frozenset(range(9))) == UNKNOWN and join(frozenset(range(8))) == frozenset(range(8))
    assert only(values(3)) == 3 and only(values(3, 4)) is None and only(UNKNOWN) is None and only(values(2.5)) is None


def test_types_wrap_or_overflow() -> None:
    assert fit_type(values(-1), 32, "unsigned") == values(2**32 - 1)
    assert fit_type(values(2**31), 32, "signed") == UNKNOWN
    assert fit_type(values(-2.5), 32, "unsigned") == UNKNOWN
    assert fit_type(values(16777217), 32, "float") == values(16777216.0)
    assert operate_one("!", values(0, 5)) == values(1, 0) and operate_one("-", values(3)) == values(-3)


def test_functions_of_the_library() -> None:
    assert call_function("min", [values(3, 9), values(5)]) == values(3, 5)
    assert call_function("max", [UNKNOWN, values(5)]) == values(5, None)
    assert call_function("ceil", [values(1.5)]) == values(2.0)
    assert call_function("rand", []) == UNKNOWN and call_function("sqrt", [values(-1)]) == UNKNOWN
