"""Barriers of some threads order what those did who met, at once or by way of others, and nothing else."""

from __future__ import annotations

import random

import pytest

from tests.front.device.test_assembly import case, interpreted, unit_of
from warpsmith.simt.meeting.ordering import some_meet

WRITES = "if (t == 0) s[0] = 5; "
READS = "if (t == 70) a[0] = s[0]; "
ONE = 'asm volatile("bar.sync 1, 64;" ::: "memory"); '
TWO = 'asm volatile("bar.sync 2, 64;" ::: "memory"); '
ARRIVES = 'asm volatile("bar.arrive 1, 96;" ::: "memory"); '
WAITS = 'asm volatile("bar.sync 1, 96;" ::: "memory"); '


def races(body: str) -> bool:
    outcome, _, _ = interpreted(case(f"if (blockIdx.x) return; {body}", 96))
    assert outcome.complete
    assert {problem.kind for problem in outcome.problems} <= {"uninitialized"}  # of who reads before it is written
    return bool(outcome.conflicts)


@pytest.mark.parametrize(
    ("body", "raced"),
    [
        (f"{WRITES} if (t < 32 || t >= 64) {{ {ONE} }} {READS}", False),
        (f"{WRITES} if (t < 64) {{ {ONE} }} {READS}", True),
        (f"{READS} if (t < 32 || t >= 64) {{ {ONE} }} {WRITES}", False),
        # by way of the warp in the middle, but in this order only
        (f"{WRITES} if (t < 64) {{ {ONE} }} if (t >= 32) {{ {TWO} }} {READS}", False),
        (f"{WRITES} if (t >= 32) {{ {TWO} }} if (t < 64) {{ {ONE} }} {READS}", True),
        # what comes behind the meeting is not known
        (f"if (t < 32 || t >= 64) {{ {ONE} }} {WRITES} {READS}", True),
        # who arrives goes on, and learns nothing
        (f"{WRITES} if (t < 32) {{ {ARRIVES} }} else {{ {WAITS} }} {READS}", False),
        (f"{READS} if (t < 32) {{ {ARRIVES} }} else {{ {WAITS} }} {WRITES}", True),
        # by way of a barrier of all
        (f"{WRITES} if (t < 64) {{ {ONE} }} __syncthreads(); {READS}", False),
    ],
)
def test_who_meets_is_ordered(body: str, raced: bool) -> None:
    assert races(body) == raced


def test_of_several_threads_each_is_kept() -> None:
    read = "if (t >= 1 && t <= 3) a[t] = s[0]; else s[8 + t] = t; "
    meets = "if (t < 3 || t == 4) __syncwarp(0b10111); "
    assert races(f"if (t == 5) s[0] = 1; __syncthreads(); {read} {meets} if (t == 4) s[0] = 2;")
    meets = "if (t < 5) __syncwarp(0b11111); "
    assert not races(f"if (t == 5) s[0] = 1; __syncthreads(); {read} {meets} if (t == 4) s[0] = 2;")


def test_tiles_of_a_warp_order_their_own() -> None:
    tile = "s[t] = t; __syncwarp(0xffu << (t & 24)); a[t] = s[t ^ {}];"
    assert not races(tile.format(5))
    assert races(tile.format(8))


def test_where_all_meet_nothing_is_kept_for_each() -> None:
    assert not some_meet(unit_of("s[t] = 1; __syncthreads(); __syncwarp(); a[t] = s[t];").module)
    assert not some_meet(unit_of('s[t] = 1; asm volatile("bar.sync 5;"); a[t] = s[t];').module)
    assert some_meet(unit_of(f"s[t] = 1; {ONE} a[t] = s[t];").module)
    assert some_meet(unit_of("s[t] = 1; if (t < 8) __syncwarp(0xff); a[t] = s[t];").module)


@pytest.mark.parametrize("seed", range(12))
def test_random_meetings_against_paths(seed: int) -> None:
    """Warps meet in pairs, one pair after the other; an access is known to who can be reached from it by meetings."""
    chosen = random.Random(seed)
    meetings = [tuple(chosen.sample(range(3), 2)) for _ in range(chosen.randint(1, 5))]
    writer, reader = chosen.sample(range(3), 2)
    at, until = sorted(chosen.choices(range(len(meetings) + 1), k=2))
    known = {writer}
    for pair in meetings[at:until]:
        known |= set(pair) if known & set(pair) else set()
    parts = [f'if (w == {one} || w == {other}) asm volatile("bar.sync {n % 15 + 1}, 64;" ::: "memory"); '
             for n, (one, other) in enumerate(meetings)]  # fmt: skip
    parts.insert(until, f"if (t == {32 * reader + 3}) a[0] = s[0]; ")
    parts.insert(at, f"if (t == {32 * writer + 7}) s[0] = 1; ")
    # who reads before it is written reads what nobody wrote
    outcome, _, _ = interpreted(case(f"if (blockIdx.x) return; int w = t / 32; {''.join(parts)}", 96))
    assert outcome.complete
    assert bool(outcome.conflicts) == (reader not in known)
