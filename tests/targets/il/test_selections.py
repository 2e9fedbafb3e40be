"""Min and max."""

from __future__ import annotations

import pytest

from tests.targets.il.agree import case_of, differs, optimized

NAN, ONE, TWO, MINUS = 0x7FC00000, 0x3F800000, 0x40000000, 0x80000000
PAIR = "mov r1, cb0[0]\nmov r2, cb0[1]\nlt r3, r1, r2\n"
GRANTED = ("what line 10 chooses from is not NaN",)


def test_min_asks_for_nothing() -> None:
    body = PAIR + "cmov_logical o0, r3, r1, r2"
    made = optimized(body)
    assert made.program.instructions[-1].op.name == "min"
    for words in ([NAN, ONE, TWO, MINUS, ONE, NAN, ONE, 0], [0, TWO, NAN, ONE, MINUS, ONE, NAN, ONE]):
        assert not differs(case_of(body, words), made)


def test_max_asks_for_numbers() -> None:
    body = PAIR + "cmov_logical o0, r3, r2, r1"
    assert optimized(body).program.instructions[-1].op.name == "cmov_logical"
    made = optimized(body, GRANTED)
    assert made.program.instructions[-1].op.name == "max"
    assert not differs(case_of(body, [ONE, TWO, MINUS, 0, TWO, ONE, 0, MINUS]), made)
    assert differs(case_of(body, [NAN, ONE, 0, 0, ONE, NAN, 0, 0]), made), "the condition is needed"


@pytest.mark.parametrize(
    "body",
    [
        PAIR + "cmov_logical o0, r3, r1, r4",
        PAIR + "mov r1, r2\ncmov_logical o0, r3, r1, r2",
        PAIR + "cmov_logical o0, r3.yxzw, r1, r2",
        PAIR + "cmov_logical o0, r3, r1_neg(x), r2",
        PAIR.replace("lt", "ge") + "cmov_logical o0, r3, r1, r2",
    ],
)
def test_what_is_neither(body: str) -> None:
    assert optimized(body, GRANTED).program.instructions[-1].op.name == "cmov_logical"
