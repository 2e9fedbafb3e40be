"""Fetches made once, and early."""

from __future__ import annotations

import pytest

from tests.targets.il.agree import case_of, differs, optimized

FETCH = "sample_resource(0)_sampler(0) {}, {}\n"


def names(body: str) -> list[str]:
    return [one.op.name for one in optimized(body).program.instructions]


def test_the_second_of_two_is_a_copy() -> None:
    body = FETCH.format("r1", "v0.x") + FETCH.format("r2.xy__", "v0.x") + "add o0, r1, r2.xyxy"
    made = optimized(body)
    assert [one.op.name for one in made.program.instructions] == ["sample_resource", "mov", "add"]
    assert not differs(case_of(body), made)


@pytest.mark.parametrize("between", ["mov r1, v0.x\n", "mov r5.x___, v0.x\n", "mov r1._y__, v0.x\n"])
def test_what_has_changed_meanwhile_is_not_taken(between: str) -> None:
    body = "mov r5, v0.x\n" + FETCH.format("r1", "r5.x") + between + FETCH.format("r2", "r5.x") + "add o0, r1, r2"
    made = optimized(body)
    assert not differs(case_of(body), made)
    assert names(body).count("sample_resource") == (2 if "r5" in between else 1)


def test_a_fetch_moves_up_to_where_its_place_is_known() -> None:
    body = "add r1, v0.x, v0.x\nadd r3, v0.x, v0.y\n" + FETCH.format("r2", "r1.x") + "add o0, r2, r3"
    assert names(body) == ["add", "sample_resource", "add", "add"]
    assert not differs(case_of(body), optimized(body))


def test_a_fetch_does_not_move_over_what_uses_its_register() -> None:
    body = "add r1, v0.x, r2\nmov r3, v0.y\nmov r2.x___, r1\n" + FETCH.format("r2._yzw", "v0.x") + "add o0, r2, r1"
    assert names(body)[-2] == "sample_resource"
