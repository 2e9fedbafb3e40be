"""The near misses of tests/cases/classic_on_data.c: data are found that let the two iterations of a witness meet."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.random_programs.replay import Witness, parse_witness
from warpsmith.base.verdict import Unknown
from warpsmith.flows.port import PortOptions, port

CASE = Path(__file__).parent / "cases" / "classic_on_data.c"
ROOM = 64
TRIES = 400


class Traced:
    """An array that notes which iteration reads and writes what."""

    def __init__(self, values: list[int]) -> None:
        self.values = values
        self.iteration = 0
        self.log: list[tuple[int, int, bool]] = []

    def __getitem__(self, place: int) -> int:
        self.log.append((self.iteration, place, False))
        return self.values[place]

    def __setitem__(self, place: int, value: int) -> None:
        self.log.append((self.iteration, place, True))
        self.values[place] = value

    def iterate(self, *bounds: int) -> Iterator[int]:
        for self.iteration in range(*bounds):
            yield self.iteration


def exchange_where_less(a: Traced, one: int, other: int) -> None:
    if a[one] > a[other]:
        t = a[one]
        a[one] = a[other]
        a[other] = t


def ring(a: Traced, other: list[int], n: int) -> None:
    for i in a.iterate(n):
        exchange_where_less(a, i, (i + 1) % n)


def both(a: Traced, other: list[int], n: int, j: int) -> None:
    for i in a.iterate(n):
        exchange_where_less(a, i, i ^ j)


def other_bit(a: Traced, other: list[int], n: int, j: int, k: int) -> None:
    for i in a.iterate(n):
        if i & k == 0:
            exchange_where_less(a, i, i ^ j)


def bubble(a: Traced, other: list[int], n: int) -> None:
    for i in a.iterate(n - 1):
        exchange_where_less(a, i, i + 1)


def flat(a: Traced, other: list[int], n: int, h: int) -> None:
    for t in a.iterate(n):
        i = t // h * h + t % h
        if a[i] > a[i + h]:
            a[i + h] = a[i]


def relax(d: Traced, w: list[int], n: int) -> None:
    for i in d.iterate(1, n):
        if d[i - 1] + w[i] < d[i]:
            d[i] = d[i - 1] + w[i]


def least(place: Traced, x: list[int], n: int) -> None:
    place.values[0] = 0
    for i in place.iterate(1, n):
        if x[i] < x[place[0]]:
            place[0] = i


def marks(composite: Traced, other: list[int], n: int) -> None:
    for m in composite.iterate(2, n):
        if composite[m - 1] == 0:
            composite[m] = 1


def row(cell: Traced, s: list[int], m: int) -> None:
    for j in cell.iterate(2, m + 1):
        cell[j] = cell[j - 2] + 1 if s[j] else cell[j] + 1


RUN: dict[str, Callable[..., None]] = {
    "ring/i": ring,
    "both/i": both,
    "other_bit/i": other_bit,
    "bubble/i": bubble,
    "flat/t": flat,
    "relax/i": relax,
    "least/i": least,
    "marks/m": marks,
    "row/j": row,
}


def meets(name: str, witness: Witness) -> bool:
    """Whether the accesses of a witness happen for some data, the first before the second."""
    rng = random.Random(name)
    (one, first), (two, second) = witness.first, witness.second
    (place,) = witness.subscripts
    for _ in range(TRIES):
        traced = Traced([rng.randrange(4) for _ in range(ROOM)])
        RUN[name](traced, [rng.randrange(4) for _ in range(ROOM)], **witness.parameters)
        seen = [(one[0], place, first), (two[0], place, second)]
        if all(access in traced.log for access in seen) and one[0] < two[0]:
            return True
    return False


def test_data_let_the_iterations_of_each_witness_meet() -> None:
    result = port([str(CASE)], PortOptions(verify=False))
    seen = {loop.id: loop for _, f in result.program.functions() for loop in result.facts.of(f).loops}
    assert seen.keys() == RUN.keys()
    assert result.plan is not None and not result.plan.fragments
    for name, loop in seen.items():
        shown = [parse_witness(r.dependence.witness) for r in loop.reasons if r.dependence is not None]
        assert isinstance(loop.verdict, Unknown) and shown and all(witness.runs for witness in shown), name
        assert all(meets(name, witness) for witness in shown), (name, shown)


def test_a_pair_that_never_meets_is_noticed() -> None:
    assert meets("bubble/i", parse_witness("n = 3: S1(0) writes a[1], S2(1) reads it, if S1 runs"))
    assert not meets("bubble/i", parse_witness("n = 3: S1(0) writes a[2], S2(1) reads it, if S1 runs"))
    assert not meets("relax/i", parse_witness("n = 3: S1(1) writes d[0], S2(2) reads it, if S1 runs"))
