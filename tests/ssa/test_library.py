"""The functions of the mathematics library."""

from __future__ import annotations

import math

import pytest

from warpsmith.ssa.library import compute_lanewise
from warpsmith.ssa.nodes import Constant, Instruction, Text, Value
from warpsmith.ssa.semantics.patterns import number_of, pattern_of
from warpsmith.ssa.types import F32, F64, I32, Type


def instruction(name: str, *operands: Type, result: Type = F64) -> Instruction:
    return Instruction("lanewise", tuple(Constant(t, 0) for t in operands), (Value(result),), Text(name))


def value(name: str, *given: float) -> float:
    made = compute_lanewise(instruction(name, *[F64] * len(given)), tuple(pattern_of(x, F64) for x in given))
    assert made is not None
    return number_of(made[0], F64)


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("sin", (1.0,), math.sin(1.0)), ("pow", (2.0, 10.0), 1024.0), ("pow", (-10.0, 999.0), -math.inf),
        ("pow", (-10.0, 1000.0), math.inf), ("pow", (10.0, 999.5), math.inf), ("log", (0.0,), -math.inf),
        ("exp", (1e6,), math.inf), ("round", (2.5,), 3.0), ("round", (-2.5,), -3.0), ("round", (2.4,), 2.0),
        ("round", (math.inf,), math.inf), ("fdim", (3.0, 1.0), 2.0), ("fdim", (1.0, 3.0), 0.0),
        ("frexp", (6.0,), 0.75), ("modf", (2.5,), 0.5), ("modf whole", (2.5,), 2.0), ("logb", (8.0,), 3.0),
        ("sinpi", (1.5,), -1.0), ("cospi", (2.0,), 1.0), ("exp10", (2.0,), 100.0), ("rcbrt", (8.0,), 0.5),
        ("normcdf", (0.0,), 0.5), ("rhypot", (3.0, 4.0), 0.2), ("tgamma", (5.0,), 24.0), ("degrees", (math.pi,), 180.0),
        ("nextafter", (1.0, 2.0), math.nextafter(1.0, 2.0)), ("nextafter", (1.0, -2.0), math.nextafter(1.0, -2.0)),
        ("nextafter", (-1.0, 2.0), math.nextafter(-1.0, 2.0)), ("nextafter", (0.0, 1.0), math.nextafter(0.0, 1.0)),
        ("sinpi", (1e300,), 0.0), ("cospi", (-0.75,), -math.sqrt(0.5)), ("normcdf", (math.inf,), 1.0),
        ("nextafter", (0.0, -1.0), math.nextafter(0.0, -1.0)), ("nextafter", (3.0, 3.0), 3.0),
    ],
)  # fmt: skip
def test_values(name: str, given: tuple[float, ...], expected: float) -> None:
    assert value(name, *given) == pytest.approx(expected, rel=1e-15, abs=1e-300)


@pytest.mark.parametrize(("name", "given"), [("log", (-1.0,)), ("acos", (2.0,)), ("nextafter", (math.nan, 1.0))])
def test_outside_of_the_domain_is_no_number(name: str, given: tuple[float, ...]) -> None:
    assert math.isnan(value(name, *given))


def test_results_have_the_type_that_is_asked_for() -> None:
    bits = pattern_of(2.5, F32)
    assert compute_lanewise(instruction("lround", F32, result=I32), (bits,)) == (3,)
    assert compute_lanewise(instruction("lround", F32, result=I32), (pattern_of(-2.5, F32),)) == (2**32 - 3,)
    assert compute_lanewise(instruction("lround", F32, result=I32), (pattern_of(math.inf, F32),)) is None
    assert compute_lanewise(instruction("ldexp", F32, I32, result=F32), (bits, 2**32 - 1)) == (pattern_of(1.25, F32),)


def test_what_is_not_known_has_no_value() -> None:
    assert compute_lanewise(instruction("somebody_elses", F64), (0,)) is None
    assert compute_lanewise(instruction("pow", F64), (0,)) is None
    assert compute_lanewise(Instruction("lanewise", (), (), Text("printf")), ()) == ()
    assert compute_lanewise(Instruction("lanewise", (), (Value(F64), Value(F64)), Text("sin")), ()) is None
    assert compute_lanewise(Instruction("lanewise", (Constant(F64, 0),), (Value(F64),), None), (0,)) is None
