"""DPoMAP against the paper's page, word for word, and against the loops that walk an array."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product
from typing import Literal, get_args

import pytest

from warpsmith.offload import dpomap
from warpsmith.offload.dpomap import AccessedArray, Location, Platform, Walk, find_walk, place_arrays
from warpsmith.poly.patterns.model import ArrayReference, Counter, MatrixRow, Space

KIB = 1024
A = AccessedArray("A", 3, 2, "row", 4 * KIB)
B = AccessedArray("B", 3, 2, "column", 4 * KIB)
C = AccessedArray("C", 3, 2, "element", 4 * KIB)


def where(platform: Platform, arrays: Sequence[AccessedArray], capacity: int = 16 * KIB) -> list[Location]:
    return [one.location for one in place_arrays(platform, arrays, capacity)]


def as_printed(platform: str, arrays: Sequence[AccessedArray], shared: int) -> list[int]:
    """Return the paper's numbers: 0 global, 1 row in shared memory, 11 column in it, 2 register."""
    placement = [0] * len(arrays)
    occupancy = 0
    for i, f in enumerate(arrays):
        if not f.rank < f.depth:
            continue
        size = f.bytes or 0
        if platform == "nvidia":
            if f.walk == "row" and occupancy < shared:
                placement[i] = 1
                occupancy += size
            elif f.walk == "column" and occupancy < shared:
                placement[i] = 11
                occupancy += size
            else:
                placement[i] = 2
        if platform == "amd":
            if f.walk == "column" and occupancy < shared:
                placement[i] = 11
                occupancy += size
            elif occupancy < shared:
                placement[i] = 1
                occupancy += size
    return placement


NUMBERS: dict[Location, int] = {"global": 0, "shared row": 1, "shared column": 11, "register": 2}


def differs(seeds: range) -> bool:
    """Whether the algorithm is not the paper's for some random arrays."""
    for seed in seeds:
        chance = random.Random(seed)
        walks: tuple[Walk, ...] = get_args(Walk)
        arrays = [
            AccessedArray(f"a{k}", 3, chance.choice([1, 2, 2, 3]), chance.choice(walks),
                          chance.choice([None, KIB, 4 * KIB, 9 * KIB]))
            for k in range(chance.randint(1, 6))
        ]  # fmt: skip
        platforms: tuple[Platform, ...] = ("nvidia", "amd")
        for platform in platforms:
            capacity = chance.choice([4, 16]) * KIB
            if [NUMBERS[one] for one in where(platform, arrays, capacity)] != as_printed(platform, arrays, capacity):
                return True
    return False


def test_it_is_the_papers_for_random_arrays() -> None:
    assert not differs(range(300))


def test_the_product_on_both_platforms() -> None:
    """ALBL, with C in a register on NVIDIA; the surviving page has no registers for AMD."""
    assert where("nvidia", [A, B, C]) == ["shared row", "shared column", "register"]
    assert where("amd", [A, B, C]) == ["shared row", "shared column", "shared row"]


def test_what_is_used_once_stays_and_full_memory_ends_it() -> None:
    assert where("nvidia", [AccessedArray("X", 2, 2, "row", KIB)]) == ["global"]
    assert where("nvidia", [A, B], 4 * KIB) == ["shared row", "register"]
    assert where("nvidia", [B, A], 4 * KIB) == ["shared column", "register"], "the order decides"
    assert where("amd", [A, B], 4 * KIB) == ["shared row", "global"]


def test_it_asks_whether_any_room_is_left_not_whether_it_is_enough() -> None:
    first, second, third, fourth = place_arrays("nvidia", [A, B, C, A], 6 * KIB)
    assert (first.overflows, second.location, second.overflows) == (False, "shared column", True)
    assert (third.location, third.overflows, fourth.location, fourth.overflows) == ("register", False) * 2
    assert "4,096 of 6,144 bytes are taken" in second.rule


def test_rules_are_told() -> None:
    rules = [one.rule for one in place_arrays("nvidia", [A, B, C, AccessedArray("X", 3, 3, "row", None)], 8 * KIB)]
    assert rules == [
        "a row is used again; 0 of 8,192 bytes are taken",
        "a column is used again; 4,096 of 8,192 bytes are taken",
        "neither a row nor a column is used again",
        "rank 3 of 3: no element is used again",
    ]
    assert place_arrays("nvidia", [A, A], KIB)[1].rule == "all 1,024 bytes of shared memory are taken"
    unknown = AccessedArray("U", 3, 2, "row", None)
    first, second = place_arrays("nvidia", [unknown, A], KIB)
    assert first.rule.endswith("its size is not known, and counts as 0") and "0 of 1,024 bytes" in second.rule
    assert "a branch that is restored" in place_arrays("amd", [C], KIB)[0].rule


def space(*matrix: tuple[int, int, int]) -> tuple[Space, ArrayReference]:
    rows = tuple(MatrixRow("e", row, (), 0) for row in matrix)
    reference = ArrayReference("a", "a", None, True, False, rows, 2, (), ())
    counters = tuple(Counter(name, name, f"f/{name}", None) for name in "ijk")
    return Space(counters, (), (reference,), (), (), ()), reference


def walked(matrix: Sequence[tuple[int, int, int]]) -> Walk:
    """Return which subscripts change where k does, looked at one by one."""
    changed: set[int] = set()
    for i, j, k in product(range(2), repeat=3):
        for dimension, row in enumerate(matrix):
            before, after = (sum(a * b for a, b in zip(row, (i, j, at), strict=True)) for at in (k, k + 1))
            changed |= {dimension} if before != after else set()
    if not changed:
        return "element"
    return "other" if len(changed) > 1 else "row" if changed == {len(matrix) - 1} else "column"


def test_what_the_innermost_loop_walks() -> None:
    chance = random.Random(4)
    seen: set[Walk] = set()
    for _ in range(200):
        matrix = [tuple(chance.choice([0, 0, 1, -1, 2]) for _ in range(3)) for _ in range(chance.randint(1, 3))]
        rows = [(a, b, c) for a, b, c in matrix]
        found = find_walk(*space(*rows))
        assert found == walked(rows), matrix
        seen.add(found)
    assert seen == set(get_args(Walk))


def test_what_is_no_sum_walks_nowhere() -> None:
    one, reference = space((1, 0, 0))
    rows = (MatrixRow("idx[k]", (0, 0, 0), (), 0, irregular=True, follows=(2,)),)
    assert find_walk(one, ArrayReference("a", "a", None, True, False, rows, 1, (), ())) == "other"
    assert find_walk(one, reference) == "element"


@pytest.mark.parametrize("bug", ["any rank", "no size", "row first", "no rest"])
def test_bugs_are_found(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = dpomap._place

    def wrong(platform: Literal["nvidia", "amd"], array: AccessedArray, taken: int, room: int) -> tuple[Location, str]:
        location, rule = place(platform, array, taken, room)
        match bug:
            case "any rank" if location == "global" and array.walk == "row":
                return "shared row", rule
            case "no size":
                return place(platform, array, 0, room)
            case "row first" if location == "shared column" and platform == "amd":
                return "shared row", rule
            case "no rest" if location == "register":
                return "global", rule
            case _:
                return location, rule

    monkeypatch.setattr(dpomap, "_place", wrong)
    assert differs(range(300))
