"""The estimated gain of a loop on a GPU: measured seconds less what its bytes, copies and launches cost."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from warpsmith.loops.search.effort import FunctionEffort, LoopEffort
from warpsmith.loops.search.traffic import ArrayTraffic
from warpsmith.machine.devices import device
from warpsmith.project.profile.model import LoopProfile
from warpsmith.survey.gain import BUS_BYTES_S, GAIN_DEVICE, LAUNCH_S, Gain, gain_of

MACHINE = device(GAIN_DEVICE)
BANDWIDTH = MACHINE.bandwidth_gb_s * 1e9


def loop(entries: int, iterations: int, seconds: float = 1.0) -> LoopProfile:
    return LoopProfile("a.c", 1, entries, iterations, seconds, 0)


def effort(*loops: LoopEffort) -> FunctionEffort:
    return FunctionEffort("f", 0, (), loops)


def gain(one: FunctionEffort, number: int, counted: Mapping[int, LoopProfile]) -> Gain:
    found = gain_of(one, number, lambda n: counted.get(n), MACHINE)
    assert found is not None
    return found


# for (t) for (i) for (j) a[i][j] += b[j]: a moves with i and j, b with j alone
A, B = ArrayTraffic("a", 8, True, True, (1, 2)), ArrayTraffic("b", 8, True, False, (2,))
NEST = effort(
    LoopEffort(-1, None, True, 0, (), ()),
    LoopEffort(0, None, True, 0, (), ()),
    LoopEffort(1, None, True, 1, (), (A, B)),
)
COUNTED = {0: loop(1, 10, 3.0), 1: loop(10, 10 * 100, 2.0), 2: loop(1000, 1000 * 50, 1.0)}


def test_a_nest_inside_a_time_loop() -> None:
    found = gain(NEST, 1, COUNTED)
    assert found.bytes == 50_000 * (16 + 8), "an element a round of the innermost loop that moves it"
    # a is read and written, b is read: 100 × 50, 50 elements
    assert found.copied == 10 * (2 * 100 * 50 * 8 + 50 * 8)
    left = 2.0 - found.bytes / BANDWIDTH - 10 * LAUNCH_S
    assert found.alone == pytest.approx(left - found.copied / BUS_BYTES_S)
    assert found.kept == pytest.approx(left - found.copied / 10 / BUS_BYTES_S), "the data stay where they are"


def test_the_whole_of_it_is_copied_once() -> None:
    found = gain(NEST, 0, COUNTED)
    assert found.copied == 2 * 100 * 50 * 8 + 50 * 8 and found.alone == found.kept


def test_what_stands_still_inside_is_touched_once() -> None:
    """b of the innermost loop alone; what nothing in the loop moves is touched at each entry."""
    still = ArrayTraffic("c", 4, False, True, ())
    one = effort(LoopEffort(-1, None, True, 0, (), ()), LoopEffort(0, None, True, 0, (), (still,)))
    found = gain(one, 1, {0: loop(1, 9), 1: loop(9, 900)})
    assert found.bytes == 9 * 4 and found.copied == 9 * 4


def test_loops_that_were_not_counted() -> None:
    assert gain_of(NEST, 1, lambda _: None, MACHINE) is None
    found = gain(NEST, 1, {1: COUNTED[1]})
    assert found.bytes == 1000 * 24, "the loop inside ran at least as often as the one around it"
    never = gain(NEST, 1, {1: loop(0, 0, 0.0), 2: loop(0, 0, 0.0)})
    assert never.bytes == 0 and never.copied == 0 and never.alone == 0


def test_an_array_is_as_large_as_what_moves_most_of_it() -> None:
    small, large = ArrayTraffic("a", 8, True, False, (0,)), ArrayTraffic("a", 8, True, False, (0, 1))
    one = effort(LoopEffort(-1, None, True, 0, (), (small,)), LoopEffort(0, None, True, 0, (), (large,)))
    found = gain(one, 0, {0: loop(1, 10), 1: loop(10, 200)})
    assert found.copied == 10 * 20 * 8
