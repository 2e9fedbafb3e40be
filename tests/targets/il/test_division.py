"""Divisions made cheaper, and what must hold for that."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from tests.front.il.running import parse
from tests.targets.il.agree import case_of, differs, optimized
from tests.targets.r600.agree import outputs_of
from warpsmith.targets.il.optimize import optimize_il
from warpsmith.targets.r600.analyze import compile_il

INDEX = "ftoi r1, v0.xyxy\n"
POWER = "cb0[0].x is a power of two"


def names(body: str, granted: tuple[str, ...] = ()) -> list[str]:
    return [one.op.name for one in optimized(body, granted).program.instructions]


@pytest.mark.parametrize(
    ("line", "name"), [("udiv o0, r1, l0.x", "ushr"), ("umod o0, r1, l0.x", "and"), ("udiv o0.xy__, r1, l0.x", "ushr")]
)
def test_by_a_literal_power_of_two(line: str, name: str) -> None:
    made = optimized(INDEX + line)
    assert [one.op.name for one in made.program.instructions] == ["ftoi", name] and not made.offered
    assert not differs(case_of(INDEX + line), made)


def test_by_another_literal_or_with_a_sign_it_stays() -> None:
    assert "udiv" not in names(INDEX + "udiv o0, r1, l0.z")  # floats: both are small
    assert names("mov r1, cb0[1]\numod o0, r1, l0.z")[-1] == "umod"
    assert names("mov r1, cb0[1]\numod o0, r1_neg(x), l0.x")[-1] == "umod"


@pytest.mark.parametrize("line", ["udiv o0, r1, cb0[0].x", "umod o0, r1, cb0[0].x"])
def test_by_a_constant_that_is_granted(line: str) -> None:
    body = f"mov r1, cb0[1]\n{line}"
    assert POWER in [text for one in optimized(body).offered for text in one.conditions]
    made = optimized(body, (POWER,))
    for power in (0, 1, 5, 22, 24, 30, 31):
        constants = [1 << power, 0, 0, 0, 5, 0xFFFFFFFF, 0x80000000, 12345678]
        assert not differs(case_of(body, constants), made)
    assert differs(case_of(body, [6, 0, 0, 0, 5, 7, 8, 9]), made), "the condition is needed"


def test_what_division_leaves_is_a_mask() -> None:
    body = "mov r1, cb0[1]\nudiv r2, r1, cb0[0].x\nimul r3, r2, cb0[0].x_neg(xyzw)\niadd o0, r1, r3"
    made = optimized(body, (POWER,))
    assert made.program.instructions[-1].op.name == "and"
    for power in (0, 3, 17, 31):
        assert not differs(case_of(body, [1 << power, 0, 0, 0, 5, 0xFFFFFFFF, 77, 12345678]), made)
    other = body.replace("iadd o0, r1", "iadd o0, r1.yzwx")
    assert optimized(other, (POWER,)).program.instructions[-1].op.name == "iadd"
    changed = body.replace("imul", "mov r1, l0\nimul")
    assert optimized(changed, (POWER,)).program.instructions[-1].op.name == "iadd"


def test_the_floor_of_a_quotient_asks_nothing_of_the_sign() -> None:
    body = "mov r1, cb0[1]\nitof r2, r1\ndiv r3, r2.x, l0.y\nflr o0, r3"
    condition = "r1.x in line 8 is from -16777216 to 16777216"
    assert [one.conditions for one in optimized(body).offered] == [(condition,)]
    made = optimized(body, (condition,))
    assert "ishr" in [one.op.name for one in made.program.instructions]
    for value in (0, 7, 8, -1, -8, -9, 1 << 24, -(1 << 24)):
        assert not differs(case_of(body, [0, 0, 0, 0, value & 0xFFFFFFFF, 0, 0, 0]), made)
    assert differs(case_of(body, [0, 0, 0, 0, (1 << 27) - 1, 0, 0, 0]), made), "the condition is needed"


def test_a_remainder_that_cannot_be_negative_is_a_mask() -> None:
    body = INDEX + "itof r2, r1\nmod o0, r2.x, l0.y"
    made = optimized(body)
    assert [one.op.name for one in made.program.instructions][-2:] == ["and", "itof"] and made.done[0].conditions
    assert not differs(case_of(body), made)


def test_a_remainder_that_may_be_negative_is_refused_with_numbers() -> None:
    body = INDEX + "iadd r1, r1, l0.w\nitof r2, r1\nmod o0, r2.x, l0.y"
    made = optimized(body)
    assert [one.witness for one in made.refused] == ["-1 % 8 is -1, and -1 & 7 is 7"]
    assert "mod" in [one.op.name for one in made.program.instructions]


def test_a_remainder_of_which_nothing_is_known_is_offered() -> None:
    body = "mov r1, cb0[1]\nitof r2, r1\nmod o0, r2.x, l0.y"
    condition = "r1.x in line 8 is from 0 to 16777216"
    assert [one.conditions for one in optimized(body).offered] == [(condition,)]
    made = optimized(body, (condition,))
    assert not differs(case_of(body, [0, 0, 0, 0, 1 << 24, 0, 0, 0]), made)
    assert differs(case_of(body, [0, 0, 0, 0, 0xFFFFFFFF, 0, 0, 0]), made), "the condition is needed"


def test_small_numbers_are_divided_as_floats() -> None:
    body = "mov r1, cb0[1]\nudiv o0, r1.x, cb0[0].x"
    granted = ("r1.x in line 8 is from 0 to 1048575", "cb0[0].x is from 1 to 8388607")
    made = optimized(body, granted)
    assert "rcp" in [one.op.name for one in made.program.instructions]
    r = random.Random(3)
    pairs = [(r.randrange(1 << 20), r.randrange(1, 1 << r.randrange(1, 24))) for _ in range(150)]
    pairs += [
        (d * q - e, d) for d in (3, 7, 49, 1023, 1048575) for q in (1, 2, 20) for e in (0, 1) if d * q - e < 1 << 20
    ]
    for n, d in pairs:
        assert not differs(replace(case_of(body, [d, 0, 0, 0, n, 0, 0, 0]), width=1, height=1), made), (n, d)


def test_small_numbers_are_divided_rightly_by_bundles_as_well() -> None:
    body = "mov r1, cb0[1]\nudiv o0, r1.x, cb0[0].x"
    granted = ("r1.x in line 8 is from 0 to 1048575", "cb0[0].x is from 1 to 8388607")
    code = compile_il(optimize_il(parse(case_of(body).text), granted).program, "r600").code
    for n, d in ((1048575, 1), (1048575, 3), (1048574, 1048575), (1048575, 1048575), (999999, 7), (5, 8388607)):
        case = replace(case_of(body, [d, 0, 0, 0, n, 0, 0, 0]), width=1, height=1)
        assert outputs_of(code, case)[0] == n // d
