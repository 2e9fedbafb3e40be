"""What atomic operations make of what was there."""

from __future__ import annotations

import pytest

from warpsmith.simt.combine import COMBINE
from warpsmith.ssa.semantics.patterns import pattern_of
from warpsmith.ssa.types import F32, I32

MINUS = 2**32 - 1


@pytest.mark.parametrize(
    ("op", "old", "more", "new"),
    [
        ("smin", 1, (MINUS,), -1), ("umin", 1, (MINUS,), 1), ("smax", 1, (MINUS,), 1), ("umax", 1, (MINUS,), MINUS),
        ("compare", 5, (5, 9), 9), ("compare", 5, (6, 9), 5), ("inc", 7, (7,), 0), ("inc", 6, (7,), 7),
        ("dec", 0, (7,), 7), ("dec", 9, (7,), 7), ("dec", 3, (7,), 2), ("exchange", 1, (2,), 2), ("xor", 6, (3,), 5),
    ],
)  # fmt: skip
def test_whole_numbers(op: str, old: int, more: tuple[int, ...], new: int) -> None:
    assert COMBINE[op](I32, old, more) == new


def test_sums_of_floats_are_rounded() -> None:
    assert COMBINE["fadd"](F32, pattern_of(1.5, F32), (pattern_of(0.25, F32),)) == pattern_of(1.75, F32)
    assert COMBINE["fadd"](F32, pattern_of(2.0**24, F32), (pattern_of(1.0, F32),)) == pattern_of(2.0**24, F32)
