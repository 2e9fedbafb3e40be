"""States at a point of host code: those of the same conditions become one, and nothing is forgotten that may be."""

from __future__ import annotations

from warpsmith.front.clang.device.launches.numbers import UNKNOWN
from warpsmith.front.clang.device.launches.places import CONDITION, Values
from warpsmith.front.clang.device.launches.states import collapse, merge, widen


def state(number: int, **conditions: int) -> Values:
    known: Values = {(7, ""): frozenset({number})}
    return known | {(CONDITION, name): frozenset({truth}) for name, truth in conditions.items()}


def test_states_of_the_same_conditions_become_one() -> None:
    both = merge([state(32, a=1), state(64, a=0), state(96, a=1)])
    assert [found[7, ""] for found in both] == [{32, 96}, {64}]


def test_what_one_does_not_know_is_not_known() -> None:
    assert merge([state(32), {}]) == [{}]


def test_too_many_conditions_are_forgotten_and_their_numbers_kept() -> None:
    (found,) = merge([state(number, **{f"c{number}": 1}) for number in range(1, 7)])
    assert found == {(7, ""): {1, 2, 3, 4, 5, 6}}


def test_one_state_keeps_the_conditions_that_all_agree_on() -> None:
    (found,) = collapse([state(32, a=1, b=1), state(64, a=1, b=0)])
    assert found == {(7, ""): {32, 64}, (CONDITION, "a"): {1}}
    assert collapse([]) == []


def test_what_changes_in_every_round_is_not_known() -> None:
    assert widen([state(32, a=1)], [state(64, a=1)]) == [{(7, ""): UNKNOWN, (CONDITION, "a"): {1}}]
    assert widen([], [state(64)]) == [state(64)]
