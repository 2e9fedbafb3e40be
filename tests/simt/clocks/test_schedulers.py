"""Which waves are asked: each scheduler by itself, with waves that can or cannot."""

from __future__ import annotations

import pytest

from tests.simt.clocks.traces import machine
from warpsmith.simt.clocks.schedulers import Chooser


def asked(chooser: Chooser, able: set[int], *, units: int = 9, ages: tuple[int, ...] = (3, 1, 2, 0)) -> list[int]:
    """Return the slots that issue, where those of `able` are candidates and so many find a unit."""
    issued: list[int] = []

    def issue(slot: int) -> bool:
        if len(issued) < units:
            issued.append(slot)
            return True
        return False

    chooser.choose(ages, lambda slot: slot in able and slot not in issued, issue)
    return issued


def test_greedy_stays_and_goes_around() -> None:
    chooser = Chooser(machine(issue=2), 4)
    assert asked(chooser, {0, 1, 2, 3}) == [0, 1]
    assert asked(chooser, {1, 2, 3}) == [2, 1]
    assert asked(chooser, {0, 1, 2, 3}) == [2, 1]
    assert asked(chooser, {0, 1, 2, 3}, units=1) == [2]
    assert asked(chooser, {3}) == [3]
    assert asked(chooser, {0, 2}) == [2]


def test_round_robin_begins_behind_the_last() -> None:
    chooser = Chooser(machine(issue=2, scheduler="round-robin"), 4)
    assert [asked(chooser, {0, 1, 2, 3}) for _ in range(3)] == [[0, 1], [2, 3], [0, 1]]
    assert asked(chooser, {1, 3}) == [3, 1]
    assert asked(chooser, set()) == [] and asked(chooser, {0, 2}) == [2, 0]


def test_oldest_first() -> None:
    assert asked(Chooser(machine(issue=2, scheduler="oldest"), 4), {0, 1, 2}) == [1, 2]


@pytest.mark.parametrize("scheduler", ["greedy", "round-robin", "oldest"])
def test_interleaved_one_wave_a_clock(scheduler: str) -> None:
    chooser = Chooser(machine(issue=4, scheduler=scheduler, threading="interleaved"), 4)
    assert len(asked(chooser, {0, 1, 2, 3})) == 1


def test_more_issue_slots_than_waves() -> None:
    assert asked(Chooser(machine(issue=4), 2), {0, 1}) == [0, 1]
