"""Two loops in a row that nobody waits between, against all schedules that OpenMP allows for a few threads."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import pytest
from msgspec import Struct

from tests.poly.analysis import program_of
from tests.poly.openmp.concurrency.assignments import SCHEDULES, THREADS, assignments
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import claims_of
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.space import budget
from warpsmith.poly.openmp.concurrency import concurrent, schedules
from warpsmith.poly.openmp.concurrency.concurrent import Asked
from warpsmith.poly.openmp.concurrency.nowait import find_overtaken


class Shared(Struct, frozen=True):
    """One loop: the values of its counter in the order of its iterations, its schedule, and what it adds to them."""

    first: int
    step: int
    count: int
    schedule: str
    offset: int

    @property
    def header(self) -> str:
        """The loop's header as C."""
        last = self.first + self.step * (self.count - 1)
        return f"for (int i = {self.first}; i {'<=' if self.step > 0 else '>='} {last}; i += {self.step})"

    @property
    def pragma(self) -> str:
        """The clause."""
        return f"schedule({self.schedule})" if self.schedule else ""

    def element(self, number: int) -> int:
        """Return the element that an iteration touches."""
        return self.first + self.step * number + self.offset


def _random_pairs(count: int) -> list[tuple[Shared, Shared]]:
    pick = random.Random(7)
    found: list[tuple[Shared, Shared]] = []
    for _ in range(count):
        sizes = pick.choice([(4, 4), (5, 5), (6, 6), (6, 5), (3, 4), (1, 1), (2, 2)])
        kinds = (pick.choice(SCHEDULES), pick.choice(SCHEDULES))
        kinds = (kinds[0], kinds[0]) if pick.random() < 0.6 else kinds
        sides = [
            Shared(pick.choice((0, 2, 9)), pick.choice((1, 1, 2, -1)), sizes[k], kinds[k], pick.choice((20, 20, 21)))
            for k in (0, 1)
        ]
        found.append((sides[0], sides[1]))
    return found


def _text(name: str, pair: tuple[Shared, Shared]) -> str:
    one, other = pair
    return f"""
void {name}(int *restrict a, int *restrict b)
{{
#pragma omp parallel
    {{
#pragma omp for nowait {one.pragma}
        {one.header} a[i + {one.offset}] = 1;
#pragma omp for {other.pragma}
        {other.header} b[i + {other.offset}] = a[i + {other.offset}];
    }}
}}
"""


def _may_race(pair: tuple[Shared, Shared]) -> bool:
    one, other = pair
    meet = [(k, j) for k in range(one.count) for j in range(other.count) if one.element(k) == other.element(j)]
    agreed = one.count == other.count and one.schedule == other.schedule and "dynamic" not in one.schedule
    agreed = agreed or ({one.schedule, other.schedule} == {"", "static"} and one.count == other.count)
    for threads in THREADS:
        left, right = (list(assignments(side.count, side.schedule, threads)) for side in pair)
        chosen = zip(left, right, strict=True) if agreed else itertools.product(left, right)
        if any(mine[k] != yours[j] for mine, yours in chosen for k, j in meet):
            return True
    return False


def _complaints(pairs: list[tuple[Shared, Shared]]) -> tuple[list[str], dict[str, int]]:
    """Return the pairs about which something wrong is said; and how many are wrong, open, and right."""
    program = program_of("\n".join(_text(f"f{k}", pair) for k, pair in enumerate(pairs)))
    facts = Facts.about(program, PolyOptions())
    found: list[str] = []
    said = {"wrong": 0, "open": 0, "right": 0}
    for (_, one), pair in zip(program.functions(), pairs, strict=True):
        with budget(facts.options.max_operations):
            answer = find_overtaken(Asked(facts, one, claims_of(one)[0], frozenset()))
        word = "wrong" if answer.wrong else "open" if answer.doubts else "right"
        said[word] += 1
        if word != "open" and _may_race(pair) != (word == "wrong"):
            found.append(f"{word}: {_text('f', pair)}")
    return found, said


def test_every_schedule_is_thought_of() -> None:
    found, said = _complaints(_random_pairs(40))
    assert not found
    assert said["wrong"] > 8 and said["right"] > 8 and said["open"] < 8


@pytest.mark.slow
def test_every_schedule_of_many_pairs_is_thought_of() -> None:
    assert not _complaints(_random_pairs(600))[0]


def _by_value(*given: object) -> object:
    found = ORIGINAL(*given)  # type: ignore[arg-type]
    assert found is not None
    zero = [d.shift(-d.constant_term) for d in found.distances]
    return schedules._Numbers(tuple(zero), found.steps, found.counts, found.even)


ORIGINAL = schedules._number
BUGS: dict[str, tuple[object, str, Callable[..., object]]] = {
    "iterations are told apart by the values of counters": (schedules, "_number", _by_value),
    "every schedule is static": (schedules, "_read", lambda _: schedules._Schedule("static")),
    "all that meet are on one thread": (
        concurrent, "on_other_threads", lambda _s, pairs, *_: (pairs.subtract(pairs), pairs.subtract(pairs))
    ),
}  # fmt: skip


@pytest.mark.parametrize("bug", BUGS)
def test_a_seeded_bug_is_seen(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, instead = BUGS[bug]
    monkeypatch.setattr(owner, name, instead)
    assert _complaints(_random_pairs(24))[0]
