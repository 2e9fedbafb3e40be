"""Where components were written, and their bounds."""

from __future__ import annotations

import pytest

from tests.front.il.running import parse
from tests.targets.il.agree import HEAD
from warpsmith.front.il.nodes import IlRegister
from warpsmith.targets.il.facts import IlFacts, Read, power_of


def facts(body: str) -> IlFacts:
    return IlFacts(parse(f"{HEAD}{body}\nendmain\nend\n"))


def x(number: int) -> Read:
    return Read(IlRegister("r", number), "x")


@pytest.mark.parametrize(
    ("body", "bounds"),
    [
        ("ftoi r1, v0.x", (0, 8191)),
        ("mov r1, l0.w", (-1, -1)),
        ("mov r1, cb0[0]", None),
        ("and r1, cb0[0], l0.x", (0, 8)),
        ("and r1, cb0[0], l0.w", None),
        ("ftoi r2, v0.x\nimul r1, r2, l0.z", (0, 49146)),
        ("ftoi r2, v0.x\niadd r1, r2, l0.w", (-1, 8190)),
        ("ftoi r2, v0.x\nushr r1, r2, l0.z", (0, 127)),
        ("ftoi r2, v0.x\nudiv r1, r2, l0.x", (0, 1023)),
        ("ftoi r2, v0.x\numod r1, r2, l0.x", (0, 7)),
        ("ftoi r2, v0.x\nimul r3, r2, r2\nimul r1, r3, r3", None),
        ("ftoi r1, v0.x_neg(x)", None),
        ("ftoi r2, v0.x\niadd r1, r2_neg(x), l0.x", None),
    ],
)
def test_bounds(body: str, bounds: tuple[int, int] | None) -> None:
    made = facts(body)
    assert made.bounds_of(len(made.instructions), x(1)) == bounds


def test_definitions_and_what_is_the_same() -> None:
    made = facts("mov r1, v0.x\nmov r1._y__, v0.y\nmov r1.0___, v0.y\nmov r2, r1")
    assert made.definition(2, x(1)) == 0 and made.definition(4, x(1)) is None
    assert made.definition(4, Read(IlRegister("r", 1), "y")) == 1
    assert made.same(1, x(1), 2, x(1)) and not made.same(1, x(1), 4, x(1)) and not made.same(1, x(1), 2, x(2))


def test_powers() -> None:
    assert [power_of(word) for word in (1, 2, 3, 0, 1 << 31)] == [0, 1, None, None, 31]
    assert facts("mov r1, l0").number(Read(IlRegister("l", 0), "y")) == 8.0
