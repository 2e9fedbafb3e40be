"""Exchanges between the lanes of a warp (PTX ISA 9.0, 9.7.9.8 and 9.7.13)."""

from __future__ import annotations

import pytest

from warpsmith.simt.meeting.exchange import exchange_lanes
from warpsmith.ssa.nodes import Exchange, Instruction, Value
from warpsmith.ssa.types import I1, I32

ALL = range(32)


def op(name: str, how: str = "", results: int = 1) -> Instruction:
    made = (Value(I32), Value(I1))[:results]
    return Instruction(name, (), made, Exchange(how) if how else None)


@pytest.mark.parametrize(
    ("how", "some", "none", "every"),
    [("all", 0, 0, 1), ("any", 1, 0, 1), ("uni", 0, 1, 1), ("ballot", 0b100, 0, 0b1110)],
)
def test_votes_of_the_lanes_that_are_there(how: str, some: int, none: int, every: int) -> None:
    for yes, expected in (((2,), some), ((), none), ((1, 2, 3), every)):
        found = exchange_lanes(op("vote", how), {lane: (int(lane in yes),) for lane in (1, 2, 3)})
        assert found == dict.fromkeys((1, 2, 3), (expected,))


def shuffled(how: str, by: int, clamp: int, lanes: range = ALL) -> list[tuple[int, int]]:
    found = exchange_lanes(op("shuffle", how, 2), {lane: (100 + lane, by, clamp) for lane in lanes})
    return [(number - 100, inside) for number, inside in found.values()]


def test_shuffles_of_a_whole_warp() -> None:
    assert shuffled("down", 2, 31) == [(lane + 2, 1) if lane < 30 else (lane, 0) for lane in ALL]
    assert shuffled("up", 3, 0) == [(lane - 3, 1) if lane >= 3 else (lane, 0) for lane in ALL]
    assert shuffled("bfly", 5, 31) == [(lane ^ 5, 1) for lane in ALL]
    assert shuffled("idx", 7, 31) == [(7, 1)] * 32
    assert shuffled("idx", 33, 31) == [(1, 1)] * 32
    assert shuffled("idx", 31, 31) == [(31, 1)] * 32


def test_shuffles_inside_of_segments() -> None:
    # segments of 8 lanes: the mask of the segment in the upper bits
    eight = (32 - 8) << 8
    assert shuffled("down", 1, eight | 31) == [(lane + 1, 1) if lane % 8 < 7 else (lane, 0) for lane in ALL]
    assert shuffled("up", 1, eight) == [(lane - 1, 1) if lane % 8 else (lane, 0) for lane in ALL]
    assert shuffled("idx", 2, eight | 31) == [(lane // 8 * 8 + 2, 1) for lane in ALL]
    assert shuffled("idx", 15, eight | 31) == [(lane // 8 * 8 + 7, 1) for lane in ALL]
    assert shuffled("bfly", 16, eight | 31) == [(lane ^ 16, 1) if lane & 16 else (lane, 0) for lane in ALL]
    assert shuffled("idx", 9, 5)[0] == (0, 0)


def test_a_lane_that_is_not_there_gives_nothing() -> None:
    assert shuffled("down", 1, 31, range(0, 32, 2)) == [(lane, 1 if lane < 31 else 0) for lane in range(0, 32, 2)]


def test_one_result_where_one_is_asked_for() -> None:
    assert exchange_lanes(op("shuffle", "idx"), {0: (5, 0, 31)}) == {0: (5,)}


def test_matches() -> None:
    brought = {0: (7,), 1: (8,), 3: (7,)}
    assert exchange_lanes(op("match", "any"), brought) == {0: (0b1001,), 1: (0b10,), 3: (0b1001,)}
    assert exchange_lanes(op("match", "all", 2), brought) == dict.fromkeys(brought, (0, 0))
    assert exchange_lanes(op("match", "all", 2), {0: (7,), 3: (7,)}) == dict.fromkeys((0, 3), (0b1001, 1))


@pytest.mark.parametrize(
    ("how", "total"),
    [("add", 2), ("umin", 3), ("umax", 2**32 - 1), ("smin", 2**32 - 4), ("smax", 3), ("and", 0), ("or", 2**32 - 1),
     ("xor", 0)],
)  # fmt: skip
def test_reductions(how: str, total: int) -> None:
    brought = {0: (3,), 1: (2**32 - 1,), 5: (2**32 - 4,)}
    expected = total if how != "add" else (3 - 1 - 4) % 2**32
    assert exchange_lanes(op("reduce", how), brought) == dict.fromkeys(brought, (expected,))


def test_who_is_active_and_what_only_waits() -> None:
    assert exchange_lanes(op("active"), {1: (), 4: ()}) == dict.fromkeys((1, 4), (0b10010,))
    assert exchange_lanes(op("warp_barrier", results=0), {1: (), 4: ()}) == {1: (), 4: ()}
