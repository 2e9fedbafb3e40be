"""How far results of the mathematics library are from what they should be, in units in the last place.

The exact numbers are mpmath's, to 200 bits. What is asked for here is what docs/explanation/numbers.md promises.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any, Final, cast

import mpmath
import pytest

from warpsmith.ssa.library import compute_lanewise
from warpsmith.ssa.nodes import Constant, Instruction, Text, Value
from warpsmith.ssa.semantics.patterns import number_of, pattern_of
from warpsmith.ssa.types import F32, F64, Type

_EXACT: Final[Any] = cast(Any, mpmath.mp).clone()
_EXACT.prec = 200

Exact = Callable[..., Any]


def _odd_root(x: Any) -> Any:
    return _EXACT.sign(x) * _EXACT.cbrt(abs(x))


_SAME: Final = (
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "cospi", "degrees", "erf", "erfc", "exp",
    "expm1", "hypot", "log", "log10", "log1p", "radians", "sin", "sinh", "sinpi", "tan", "tanh",
)  # fmt: skip
FUNCTIONS: Final[dict[str, Exact]] = {
    **{name: getattr(_EXACT, name) for name in _SAME},
    "cbrt": _odd_root,
    "exp2": lambda x: _EXACT.mpf(2) ** x,
    "exp10": lambda x: _EXACT.mpf(10) ** x,
    "lgamma": lambda x: _EXACT.log(abs(_EXACT.gamma(x))),
    "log2": lambda x: _EXACT.log(x, 2),
    "normcdf": _EXACT.ncdf,
    "pow": _EXACT.power,
    "rcbrt": lambda x: 1 / _odd_root(x),
    "rhypot": lambda x, y: 1 / _EXACT.hypot(x, y),
    "tgamma": _EXACT.gamma,
}
_TWO: Final = frozenset({"atan2", "hypot", "pow", "rhypot"})
_POSITIVE: Final = frozenset({"log", "log2", "log10", "pow", "lgamma", "tgamma"})
_INSIDE: Final = frozenset({"acos", "asin", "atanh", "log1p"})
"""Functions of numbers between -1 and 1, or above -1."""


def _most(name: str, type: Type) -> float:
    """Return the error that is promised."""
    if type is F32:
        return 0.501
    return 100 if name == "lgamma" else 6


def _operand(name: str, chosen: random.Random, type: Type) -> float:
    wide = name not in _INSIDE and chosen.random() < 0.6
    x = math.copysign(2.0 ** chosen.uniform(-20, 6), chosen.random() - 0.5) if wide else chosen.uniform(-0.99, 0.99)
    if name in _POSITIVE:
        x = abs(x) + 0.01
    if name == "acosh":
        x = abs(x) + 1.0
    return number_of(pattern_of(x, type), type)


def _last_place(x: Any, type: Type) -> Any:
    """Return what the last place of numbers as large as `x` is worth."""
    digits, least = (24, -149) if type is F32 else (53, -1074)
    return _EXACT.mpf(2) ** max(int(_EXACT.floor(_EXACT.log(abs(x), 2))) - digits + 1, least)


def worst(name: str, type: Type, runs: int) -> float:
    """Return the largest error of a function."""
    chosen, most = random.Random(name), 0.0
    count = 2 if name in _TWO else 1
    op = Instruction("lanewise", tuple(Constant(type, 0) for _ in range(count)), (Value(type),), Text(name))
    for _ in range(runs):
        given = [_operand(name, chosen, type) for _ in range(count)]
        if name == "lgamma" and min(abs(given[0] - 1), abs(given[0] - 2)) < 0.25:
            continue  # it is zero there
        made = compute_lanewise(op, tuple(pattern_of(x, type) for x in given))
        assert made is not None
        got = number_of(made[0], type)
        exact = FUNCTIONS[name](*map(_EXACT.mpf, given))
        if math.isfinite(got) and exact != 0:
            most = max(most, float(abs(_EXACT.mpf(got) - exact) / _last_place(exact, type)))
    return most


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_single_precision_is_rounded_from_double(name: str) -> None:
    assert worst(name, F32, 150) < _most(name, F32)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_double_precision_is_the_c_librarys(name: str) -> None:
    assert worst(name, F64, 150) < _most(name, F64)


@pytest.mark.slow
@pytest.mark.parametrize("type", [F32, F64])
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_many_numbers(name: str, type: Type) -> None:
    assert worst(name, type, 5000) < _most(name, type)


def test_what_is_wrong_is_seen() -> None:
    """Sines of half turns that lose their digits where they are small are further away than that."""
    x = 0.9990689847269711
    exact = _EXACT.sinpi(_EXACT.mpf(x))
    assert float(abs(_EXACT.mpf(math.sin(math.pi * x)) - exact) / _last_place(exact, F64)) > 100
