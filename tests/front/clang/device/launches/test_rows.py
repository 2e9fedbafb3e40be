"""A launch's row takes over what is known, and lists blocks that may be."""

from __future__ import annotations

from warpsmith.front.clang.device.launches.numbers import UNKNOWN, Number
from warpsmith.front.clang.device.launches.rows import fill_launch, given_block
from warpsmith.front.clang.wire import LaunchRow

ONE = frozenset[Number | None]({1})
OPEN: LaunchRow = (0, 0, 0, 9, [None] * 3, [None] * 3, None, ([], False), [None, [3], None])


def test_what_is_given_stays() -> None:
    known: LaunchRow = (0, 0, 0, 9, [None, 1, 1], [8, 1, 1], 0, given_block([8, 1, 1]), [])
    row = fill_launch(known, (frozenset({4}), ONE, ONE), (frozenset({2}), ONE, ONE), frozenset({64}))
    assert row[4:] == ([4, 1, 1], [8, 1, 1], 0, ([[8, 1, 1]], True), [])


def test_blocks_that_may_be() -> None:
    several = fill_launch(OPEN, (UNKNOWN, ONE, ONE), (frozenset({0, 32, 64}), ONE, ONE), UNKNOWN)
    assert several[5] == [None, 1, 1] and several[7] == ([[32, 1, 1], [64, 1, 1]], True), "none has 0 threads"
    others = fill_launch(OPEN, (UNKNOWN, ONE, ONE), (frozenset({32, None, 4096}), ONE, ONE), UNKNOWN)
    assert others[7] == ([[32, 1, 1]], False)
    assert fill_launch(OPEN, (ONE,) * 3, (UNKNOWN, ONE, ONE), UNKNOWN)[7] == ([], False)
    assert given_block([8, None, 1]) == ([], False)


def test_arguments_that_may_be() -> None:
    shape = (ONE,) * 3
    some = fill_launch(OPEN, shape, shape, ONE, [frozenset({2, 1}), frozenset({9}), frozenset({4, None})])
    assert some[8] == [[1, 2], [3], None], "what is given stays"
    fractions = fill_launch(OPEN, shape, shape, ONE, [frozenset({2.5}), ONE, frozenset()])
    assert fractions[8] == [None, [3], None]
    assert fill_launch(OPEN, shape, shape, ONE, [ONE])[8] == [None, [3], None], "not as many as the kernel has"
