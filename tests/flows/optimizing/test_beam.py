"""A wide beam sees all that exhaustive search sees; a narrow one the cheapest of each level."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from random import Random

from warpsmith.flows.optimizing.beam import beam_search

Word = tuple[int, ...]
EMPTY: Word = ()


def longer(word: Word) -> Iterable[Word]:
    return [(*word, letter) for letter in range(3)]


def costs(seed: int) -> dict[Word, float]:
    draw = Random(seed)
    return {word: draw.random() for length in range(4) for word in product(range(3), repeat=length)}


def test_a_wide_beam_yields_every_state_once() -> None:
    for seed in range(20):
        cost = costs(seed)
        found = list(beam_search(EMPTY, longer, cost.__getitem__, 27, 3))
        assert sorted(found) == sorted(cost) and min(found, key=cost.__getitem__) == min(cost, key=cost.__getitem__)


def test_a_narrow_beam_goes_on_from_the_cheapest() -> None:
    for seed in range(20):
        cost = costs(seed)
        first, one, two, three = beam_search(EMPTY, longer, cost.__getitem__, 1, 3)
        assert first == ()
        for before, after in ((first, one), (one, two), (two, three)):
            assert after == min(longer(before), key=cost.__getitem__)


def test_what_is_reached_twice_is_yielded_once_and_the_end_is_found() -> None:
    def around(number: int) -> Iterable[int]:
        return [(number + 1) % 5, (number + 2) % 5]

    found = list(beam_search(0, around, float, 9, 50))
    assert sorted(found) == [0, 1, 2, 3, 4]


def test_of_equals_the_first_stays() -> None:
    assert list(beam_search(EMPTY, longer, lambda _: 1.0, 2, 2)) == [(), (0,), (1,), (0, 0), (0, 1)]
