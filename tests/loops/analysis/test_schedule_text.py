"""The text of times is read as it is written."""

from __future__ import annotations

import pytest

from warpsmith.loops.analysis.schedule_text import ScheduleTextError, read_schedule, schedule_text
from warpsmith.poly.legality.schedules import ScheduleDimension
from warpsmith.tree.types import INT, Symbol

FIRST, SECOND = (Symbol(name, name, INT, "local") for name in "ij")
NAMES = {"i": FIRST, "j": SECOND}


@pytest.mark.parametrize("text", ["i j", "2*i+j-1 i", "-i 0 j", "(i+2*j)/4 i/32", "3 -2"])
def test_round_trip(text: str) -> None:
    assert schedule_text(read_schedule(text, NAMES)) == text


def test_values() -> None:
    assert read_schedule("i+i-3 (i-j)/8", NAMES) == (
        ScheduleDimension(((FIRST, 2),), -3),
        ScheduleDimension(((FIRST, 1), (SECOND, -1)), 0, 8),
    )
    assert read_schedule("i-i", NAMES) == (ScheduleDimension(),)


@pytest.mark.parametrize("text", ["", "i*j", "i+", "k", "i/0", "i/j", "((i))", "9999999*i", "i%2", "i ; j"])
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(ScheduleTextError):
        read_schedule(text, NAMES)
