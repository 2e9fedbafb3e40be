"""A launch on made up arguments: arrays become long enough, and the interpreter sees who races."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.flows.witness.kernels import text_of, unit_of
from warpsmith.analysis.uniformity.facts import LaunchShape
from warpsmith.flows.witness import attempt
from warpsmith.flows.witness.attempt import Attempt, FailedLaunch, Places, Planned, place_of, try_launch
from warpsmith.flows.witness.made import make_arguments


def tried(folder: Path, text: str, blocks: int = 2, expected: Set[Places] = frozenset()) -> Attempt | FailedLaunch:
    """Return how the first launch of a kernel went."""
    unit = unit_of(folder, text)
    (kernel,) = (one for one in unit.module.functions if one.kernel)
    made = next(make_arguments(unit, kernel, 64 * blocks, LaunchShape()))
    return try_launch(Planned(unit, kernel, (64, 1, 1), (blocks, 1, 1), 0, 32), made, expected)


def test_arrays_become_as_long_as_it_takes(tmp_path: Path) -> None:
    long = "__global__ void k(float *a, int n) { if (n > 0) a[threadIdx.x * n + 5000] = blockIdx.x * 0; }"
    found = tried(tmp_path, long, 1)
    assert isinstance(found, Attempt) and found.outcome is None
    type, count = found.made.arrays["a"]
    assert type == "f32" and 63 * 64 + 5000 < count <= 8 * (63 * 64 + 5001)
    before = tried(tmp_path, long.replace("5000", "-1"))
    assert isinstance(before, FailedLaunch) and before.problem.kind == "bounds", "nothing stands before an array"
    far = tried(tmp_path, long.replace("5000", "100000000"))
    assert isinstance(far, FailedLaunch) and far.problem.kind == "bounds", "nor so far behind it"


@pytest.mark.parametrize("refused", ["", "the interpreter is to take it"])
def test_who_races(refused: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if refused:
        monkeypatch.setattr(attempt, "why_refused", lambda *given: refused)
    calm = tried(tmp_path, text_of("other_block", races=False))
    assert isinstance(calm, Attempt) and calm.outcome is None
    racy = tried(tmp_path, text_of("other_block", races=True))
    assert isinstance(racy, Attempt) and racy.outcome is not None
    assert {one.origin.block for race in racy.outcome.conflicts for one in (race.first, race.second)} == {0, 1}


def test_a_race_with_a_block_far_away_is_found(tmp_path: Path) -> None:
    far = "__global__ void k(int *a) { if (threadIdx.x == 0 && blockIdx.x % 5 == 1) a[0] = blockIdx.x; }"
    found = tried(tmp_path, far, 8)
    assert isinstance(found, Attempt) and found.outcome is not None
    (race,) = found.outcome.conflicts
    assert {race.first.origin.block, race.second.origin.block} == {1, 6}


def test_what_does_not_end_shows_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt, "STEPS", 10_000)
    endless = "__global__ void k(int *a, int n) { for (int i = 0; i < n; i += a[0] & 0) a[threadIdx.x] = i; }"
    found = tried(tmp_path, endless)
    assert isinstance(found, FailedLaunch) and found.problem.kind == "budget"


def test_arguments_that_make_no_sense_are_no_launch(tmp_path: Path) -> None:
    unit = unit_of(tmp_path, text_of("one", races=True))
    (kernel,) = (one for one in unit.module.functions if one.kernel)
    made = replace(next(make_arguments(unit, kernel, 64, LaunchShape())), arrays={})
    failed = try_launch(Planned(unit, kernel, (64, 1, 1), (1, 1, 1), 0, 32), made)
    assert isinstance(failed, FailedLaunch) and "needs arguments" in failed.problem.message


LATER = """__global__ void k(int *a, int *b) {
    a[0] = threadIdx.x;
    for (int i = 0; i < 2000; i++)
        b[threadIdx.x] += i;
    a[1] = threadIdx.x;
}"""


def places(found: Attempt | FailedLaunch) -> set[Places]:
    """Return the places of all conflicts that were seen."""
    assert isinstance(found, Attempt) and found.outcome is not None
    return {place_of(one) for one in found.outcome.conflicts}


def test_who_has_seen_what_was_expected_looks_no_further(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt, "_SILENCE", 10_000_000)
    monkeypatch.setattr(attempt, "INTERPRETED", 10_000_000)
    two = LATER.replace("2000", "20")
    all_of_it = places(tried(tmp_path, two, 1))
    assert len(all_of_it) == 2
    (first, second) = sorted(all_of_it, key=lambda places: sorted(places))
    assert places(tried(tmp_path, two, 1, {first})) == {first}
    assert places(tried(tmp_path, two, 1, {second})) == all_of_it


def test_nothing_new_for_long_ends_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt, "_SILENCE", 5_000)
    monkeypatch.setattr(attempt, "INTERPRETED", 10_000_000)
    found = tried(tmp_path, LATER, 1)
    assert len(places(found)) == 1
    assert isinstance(found, Attempt) and found.outcome is not None and found.outcome.steps < 20_000


def test_dynamic_shared_memory_becomes_as_large_as_it_takes(tmp_path: Path) -> None:
    text = "__global__ void k(int *a) { extern __shared__ int s[]; s[threadIdx.x] = 1; a[threadIdx.x] = s[99 + 0]; }"
    unit = unit_of(tmp_path, text)
    (kernel,) = (one for one in unit.module.functions if one.kernel)
    planned = Planned(unit, kernel, (128, 1, 1), (1, 1, 1), 0, 32, most=4096)
    made = next(make_arguments(unit, kernel, 128, LaunchShape()))
    found = try_launch(planned, made)
    assert isinstance(found, Attempt) and found.outcome is not None and 512 <= found.started.shared <= 4096
    for fixed in (replace(planned, most=0), replace(planned, most=64)):
        failed = try_launch(fixed, made)
        assert isinstance(failed, FailedLaunch) and failed.problem.kind == "bounds"


def test_arrays_of_a_block_become_as_long_as_it_takes(tmp_path: Path) -> None:
    text = """__kernel void k(__local float *f, __local int *s, __global int *a) {
        int t = get_local_id(0);
        __local int own[64];
        own[t] = f[t];
        s[t + 3000] = t;
        a[t] = s[3000 + t / 2] + own[t];
    }"""
    unit = unit_of(tmp_path, text, "k.cl")
    (kernel,) = (one for one in unit.module.functions if one.kernel)
    made = next(make_arguments(unit, kernel, 64, LaunchShape()))
    found = try_launch(Planned(unit, kernel, (64, 1, 1), (1, 1, 1), 0, 32), made)
    assert isinstance(found, Attempt) and found.outcome is not None and found.outcome.conflicts
    assert dict(found.made.arrays) == {"f": ("f32", 2048), "s": ("i32", 8192), "a": ("i32", 256)}
    assert found.started.shared == 4 * (2048 + 8192) and found.started.dynamic == 0
    unit = unit_of(tmp_path, text.replace("3000", "100000"), "k.cl")
    (kernel,) = (one for one in unit.module.functions if one.kernel)
    failed = try_launch(Planned(unit, kernel, (64, 1, 1), (1, 1, 1), 0, 32), made)
    assert isinstance(failed, FailedLaunch) and failed.problem.kind == "bounds"
