"""Different numbers of lanes and of groups of them: compared with sets."""

from __future__ import annotations

import functools
import random

import pytest

from tests.simt.engine.observers.compiled import Compiled, compiled
from warpsmith.simt.engine.lanes import I64, Emit, Ir
from warpsmith.simt.engine.observers.different import different_function

SHIFT = 3


@functools.cache
def _counter(width: int) -> Compiled:
    def fill(e: Emit, out: Ir, numbers: Ir, mask: Ir) -> None:
        both = e.b.call(different_function(Emit(e.module, e.lanes), SHIFT), [numbers, mask])
        for at in range(2):
            e.b.store(e.b.extract_value(both, at), e.b.gep(out, [I64(at)], source_etype=I64))

    return compiled(width, 2, fill)


def _expected(numbers: list[int], mask: int) -> list[int]:
    there = [number for lane, number in enumerate(numbers) if mask >> lane & 1]
    return [len(set(there)), len({number >> SHIFT for number in there})]


@pytest.mark.parametrize("width", [8, 32, 64])
def test_different_numbers_are_counted(width: int) -> None:
    pick = random.Random(width)
    # near ones, ones at the two ends of what is near, and any
    spans = (1, 2, 9, 40, (1 << 14) - 1, 1 << 14, 1 << 15, 1 << 16, 1 << 31)
    for span in spans:
        for _ in range(40):
            start = pick.choice((0, 5, 1 << 20, (1 << 31) - 1))
            few = [start + pick.randrange(span) for _ in range(pick.randint(1, width))]
            numbers = [pick.choice(few) for _ in range(width)]
            mask = pick.getrandbits(width) | 1 << pick.randrange(width)
            assert _counter(width).call(numbers, mask) == _expected(numbers, mask), (numbers, mask)


def test_lanes_that_are_not_there_do_not_count() -> None:
    assert _counter(8).call([7, 1, 2, 3, 4, 5, 6, 0], 0b10000001) == [2, 1]
    assert _counter(8).call([1 << 30, 1, 2, 3, 4, 5, 6, 0], 0b10000001) == [2, 2]


def test_every_lane_is_compared_with_every_lower_one() -> None:
    for one in range(8):
        for other in range(one):
            # near each other; as far as 16 bits do not tell; and any
            for step in (8, 1 << 16, 1 << 20):
                numbers = [step * lane for lane in range(8)]
                numbers[one] = numbers[other]
                assert _counter(8).call(numbers, 0xFF) == [7, 7], numbers
