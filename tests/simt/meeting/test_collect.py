"""Collective operations of a block's threads at a barrier."""

from __future__ import annotations

import struct

import pytest

from warpsmith.simt.meeting.collect import collect_given
from warpsmith.ssa.types import F32, I8, I32, Type

MINUS = 2**32 - 1
GIVEN = {2: 5, 0: 3, 1: MINUS}


def bits(number: float) -> int:
    return int.from_bytes(struct.pack("<f", number), "little")


@pytest.mark.parametrize(
    ("how", "total", "scan", "before"),
    [
        ("add", 7, [3, 2, 7], [0, 3, 2]),
        ("umin", 3, [3, 3, 3], [MINUS, 3, 3]),
        ("umax", MINUS, [3, MINUS, MINUS], [0, 3, MINUS]),
        ("smin", MINUS, [3, MINUS, MINUS], [2**31 - 1, 3, MINUS]),
        ("smax", 5, [3, 3, 5], [2**31, 3, 3]),
    ],
)
def test_totals_and_prefixes_in_the_order_of_threads(how: str, total: int, scan: list[int], before: list[int]) -> None:
    assert collect_given(how, I32, GIVEN) == dict.fromkeys(GIVEN, total)
    assert collect_given(f"scan_{how}", I32, GIVEN) == dict(enumerate(scan))
    assert collect_given(f"before_{how}", I32, GIVEN) == dict(enumerate(before))


@pytest.mark.parametrize(
    ("how", "total", "first"),
    [("fadd", 1.5, 0.0), ("fmin", -2.0, float("inf")), ("fmax", 3.5, float("-inf"))],
)
def test_floats(how: str, total: float, first: float) -> None:
    given = {0: bits(3.5), 1: bits(-2.0)}
    assert collect_given(how, F32, given)[0] == bits(total)
    assert collect_given(f"before_{how}", F32, given) == {0: bits(first), 1: bits(3.5)}


def test_sums_wrap_at_the_size_of_their_type() -> None:
    narrow: Type = I8
    assert collect_given("add", narrow, {0: 200, 1: 100}) == {0: 44, 1: 44}
    assert collect_given("smax", narrow, {0: 200, 1: 100}) == {0: 100, 1: 100}


@pytest.mark.parametrize(("given", "all_", "any_", "count"), [([1, 2], 1, 1, 2), ([0, 7], 0, 1, 1), ([0, 0], 0, 0, 0)])
def test_votes(given: list[int], all_: int, any_: int, count: int) -> None:
    held = dict(enumerate(given))
    found = tuple(set(collect_given(how, I32, held).values()) for how in ("and", "or", "count"))
    assert found == ({all_}, {any_}, {count})


def test_one_thread_alone() -> None:
    assert collect_given("before_add", I32, {4: 9}) == {4: 0} and collect_given("scan_add", I32, {4: 9}) == {4: 9}
