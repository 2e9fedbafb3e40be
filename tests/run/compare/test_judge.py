"""Logs compared: the sums that stand in for large objects, and originals that break down by themselves."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from warpsmith.run.compare.captures import CaptureLog, CaptureRecord, ElementSummary, ElementSums
from warpsmith.run.compare.judge import Evidence, compare_logs

KEY = ("f/i", "y")


def record(values: list[float], instance: int = 0) -> CaptureRecord:
    """Return a record of every element."""
    data = np.array(values)
    return CaptureRecord(
        *KEY, instance, 0, len(values), 0, len(values), "type", 1, hash(data.tobytes()), (), data, None
    )  # fmt: skip


def summarized(sums: list[float], magnitude: float = 10.0) -> CaptureRecord:
    """Return a record of the sums of three runs of elements."""
    blocks = tuple(ElementSums(s, magnitude, 0, hash(s)) for s in sums)
    summary = ElementSummary(blocks, np.array([0]), np.array([1.0]))
    return replace(record([0.0] * 30), hash=hash(tuple(sums)), values=None, summary=summary)


def log(*records: CaptureRecord) -> CaptureLog:
    return CaptureLog({KEY: {r.instance: r for r in records}}, {KEY: len(records)})


def rules(base: CaptureLog, actual: CaptureLog, full: Evidence) -> tuple[list[str], list[str]]:
    (verdict,) = compare_logs(base, actual, Evidence((base,), reordered=full.reordered), lambda: full)
    return [f.rule for f in verdict.failures], [f.rule for f in verdict.notes]


@pytest.mark.parametrize(
    ("values", "reordered", "help"),
    [
        ([3.0, 1.001], True, "if the result hangs on their last bits"),
        ([3.0, 2.0], True, "the difference is larger than rounding"),
        ([3.0, 1.001], False, ""),
    ],
)
def test_another_order_of_sums_is_named_where_it_can_be_the_cause(
    values: list[float], reordered: bool, help: str
) -> None:
    base = log(record([3.0, 1.0]))
    evidence = Evidence((base,), reordered=reordered)
    (verdict,) = compare_logs(base, log(record(values)), evidence, lambda: evidence)
    (failure,) = verdict.failures
    assert help in " ".join(failure.help) and bool(failure.help) == reordered


def test_elements_are_counted_where_a_region_may_touch_them() -> None:
    base, other = (log(replace(record([v, v, 2.0, v]), lower=1, upper=4)) for v in (1.0, 5.0))
    evidence = Evidence((base, other))
    (verdict,) = compare_logs(base, other, evidence, lambda: evidence)
    row = verdict.live_out
    assert (verdict.failures, row.elements, row.compared, row.masked) == ((), 4, 1, 2)
    assert row.mostly_masked and [note.rule for note in verdict.notes] == ["VER022"]


def test_the_spread_of_sums_is_the_objects() -> None:
    base, near = log(summarized([5.0, 5.0, 5.0])), log(summarized([5.0, 5.0, 5.0 + 1e-9]))
    far = log(summarized([5.0, 5.0 + 1e-6, 5.0]))
    build = log(summarized([5.0 + 1e-9, 5.0, 5.0]))
    assert rules(base, near, Evidence((base,), (build,))) == ([], [])
    assert rules(base, near, Evidence((base,), ())) == (["VER007"], [])
    assert rules(base, far, Evidence((base,), (build,))) == (["VER007"], [])


def test_sums_in_another_order_may_differ_where_no_build_does() -> None:
    base, near = log(summarized([5.0, 5.0, 5.0])), log(summarized([5.0, 5.0, 5.0 + 1e-13]))
    assert rules(base, near, Evidence((base,), (), reordered=True)) == ([], [])
    assert rules(base, near, Evidence((base,), ())) == (["VER007"], [])


def test_an_original_that_breaks_down_in_one_build_determines_nothing() -> None:
    base = log(record([3.0, 1e-20]), record([3.0, 2e-20], 1))
    actual = log(record([3.0, 1e-20]), record([3.0, float("nan")], 1))
    same, broken = log(*base.records[KEY].values()), log(record([3.0, float("inf")]), record([3.0, 2e-20], 1))
    assert rules(base, actual, Evidence((base,), (same,))) == (["VER007"], [])
    assert rules(base, actual, Evidence((base,), (broken,)))[0] == []
    assert "VER023" in rules(base, actual, Evidence((base,), (broken,)))[1]


def test_a_scalar_may_be_off_by_ulps_of_what_it_was_before() -> None:
    base = log(record([4.0]), record([0.02], 1))
    near, far = log(record([4.0]), record([0.02 + 1e-14], 1)), log(record([4.0]), record([0.02 + 1e-10], 1))
    assert rules(base, near, Evidence((base,), reordered=True)) == ([], [])
    assert rules(base, far, Evidence((base,), reordered=True)) == (["VER007"], [])
    assert rules(base, near, Evidence((base,))) == (["VER007"], [])


def test_what_memory_was_filled_with_allows_nothing() -> None:
    """A huge fill where nobody wrote is no number that a sum in another order may be off by."""
    fills = [bytes([byte]) * 8 for byte in (0x7E, 0x7D)]
    bare = [float(np.frombuffer(fill)[0]) for fill in fills]
    runs = [log(record([value, 4.0, 0.02])) for value in bare]
    near, far = (log(record([bare[0], 4.0, 0.02 + off])) for off in (1e-15, 1e-3))
    evidence = Evidence((runs[0],), reordered=True, unwritten=(tuple(zip(runs, fills, strict=True)),))
    assert bare[0] > 1e100
    assert rules(runs[0], near, evidence)[0] == []
    assert rules(runs[0], far, evidence)[0] == ["VER007"]


def pointers(*words: int) -> CaptureRecord:
    """Return a record of pointers, as bytes."""
    data = np.array(words, np.uint64).view(np.uint8)
    return replace(record([0.0] * len(words)), values=data, stride=8, hash=hash(data.tobytes()))


def test_an_address_may_be_another_one_and_nothing_else() -> None:
    base, again = log(pointers(0x7F12_3456_7000, 0, 5)), log(pointers(0x7F99_0000_7010, 0, 5))
    evidence = Evidence((base, again))
    (verdict,) = compare_logs(base, log(pointers(0x7F55_0000_7010, 0, 5)), evidence, lambda: evidence)
    assert verdict.failures == () and (verdict.live_out.compared, verdict.live_out.masked) == (2, 0)
    assert "1 of 3 elements of y after f/i hold addresses" in verdict.notes[0].message
    for wrong in ((0, 0, 5), (17, 0, 5), (0x7F55_0000_7010, 0x7F55_0000_7010, 5), (0x7F55_0000_7010, 0, 6)):
        (verdict,) = compare_logs(base, log(pointers(*wrong)), evidence, lambda: evidence)
        assert [failure.rule for failure in verdict.failures] == ["VER007"], wrong


NAN = float("nan")


@pytest.mark.parametrize(
    ("build", "found", "word"),
    [
        # builds of the original differ by more than rounding: what is noise in one may be zero in another
        ([1.0, 0.5], [1.0, NAN], "broken"),
        ([1.0, 0.5], [1.0, 7.0], "fails"),
        ([1.0, 0.2 + 1e-15], [1.0, NAN], "fails"),
    ],
)
def test_noise_that_is_divided_by_leaves_numbers_of_nobody(build: list[float], found: list[float], word: str) -> None:
    base = log(record([1.0, 0.2]))
    evidence = Evidence((base,), (log(record(build)),))
    (verdict,) = compare_logs(base, log(record(found)), evidence, lambda: evidence)
    assert (verdict.broken, bool(verdict.failures)) == (word == "broken", word == "fails")
    assert verdict.live_out.mostly_masked == (word == "broken")
    assert word != "broken" or (verdict.live_out.compared, verdict.live_out.masked) == (0, 2)
    left = verdict.leave_out()
    assert not left.failures and left.live_out.mostly_masked


def test_a_region_is_carried_out_as_often_as_by_the_original() -> None:
    once, twice = log(record([1.0])), log(record([1.0]), record([1.0], 1))
    assert rules(once, once, Evidence((once,))) == ([], [])
    assert rules(once, twice, Evidence((once,))) == (["VER008"], [])
    assert rules(twice, once, Evidence((twice,))) == (["VER008"], [])


def test_sums_in_another_order_are_off_by_rounding_at_most() -> None:
    base, far = log(summarized([5.0, 5.0, 5.0])), log(summarized([5.0, 5.0, 5.1]))
    assert rules(base, far, Evidence((base,), (), reordered=True)) == (["VER007"], [])


@pytest.mark.parametrize("first", [True, False])
def test_the_largest_difference_of_all_instances_is_told(first: bool) -> None:
    ulp = 2.0**-50
    base = log(record([4.0]), record([4.0], 1))
    near = log(record([4.0 + ulp * first]), record([4.0 + ulp * (not first)], 1))
    evidence = Evidence((base,), reordered=True)
    (verdict,) = compare_logs(base, near, evidence, lambda: evidence)
    row = verdict.live_out
    assert (verdict.failures, row.max_abs, row.max_rel, row.instance) == ((), ulp, ulp / 4, 2)
    assert row.rounding == ulp / 4 and not row.identical


def test_an_instance_that_was_not_recorded_fails() -> None:
    both, once = log(record([1.0]), record([2.0], 1)), CaptureLog({KEY: {0: record([1.0])}}, {KEY: 2})
    assert rules(both, once, Evidence((both,))) == (["VER008"], [])
    # objects of what is no region have no number of times
    base, empty = CaptureLog({KEY: {0: record([1.0])}}), CaptureLog()
    assert rules(base, base, Evidence((base,))) == ([], [])
    assert rules(base, empty, Evidence((base,))) == (["VER008"], [])


def test_elements_whose_newest_values_are_elsewhere_are_left_out_and_no_others() -> None:
    base = log(record([1.0, 2.0, 3.0, 4.0]))
    for at, failures in ((0, ["VER007"]), (1, []), (2, []), (3, ["VER007"])):
        values = [9.0 if at == position else value for position, value in enumerate((1.0, 2.0, 3.0, 4.0))]
        found = log(replace(record(values), stale=((-3, -2), (1, 3))))
        assert rules(base, found, Evidence((base,)))[0] == failures, at
    # stale in front of what the original has
    behind = log(replace(record([3.0, 4.0, 5.0]), first=2, lower=2, upper=5))
    found = log(replace(record([1.0, 2.0, 3.0, 9.0, 5.0]), stale=((0, 1),)))
    assert rules(behind, found, Evidence((behind,)))[0] == ["VER007"]


def test_an_element_that_is_finite_in_one_build_only_is_said_to_be() -> None:
    base, build = log(record([3.0, 1.0])), log(record([3.0, float("inf")]))
    evidence = Evidence((base,), (build,))
    (verdict,) = compare_logs(base, log(record([3.0, 7.0])), evidence, lambda: evidence)
    assert verdict.failures == ()
    assert "finite in one build and not in another" in verdict.notes[0].message


def test_builds_are_compared_with_the_run_that_they_repeat() -> None:
    """Where the repeated run has infinities as all builds have, no build breaks down: a difference is one."""
    base, again = log(record([3.0, 1.0])), log(record([3.0, float("inf")]))
    full = Evidence((again,), (again,))
    (verdict,) = compare_logs(base, log(record([4.0, 1.0])), Evidence((base,)), lambda: full)
    assert [f.rule for f in verdict.failures] == ["VER007"] and not verdict.broken


def test_runs_that_have_no_such_object_or_another_extent_of_it_say_nothing() -> None:
    base = log(record([3.0, 1.0]))
    others = CaptureLog(), log(record([9.0])), log(replace(record([9.0, 9.0]), first=1))
    for wrong, failures in (([3.0, 1.0], []), ([3.0, 2.0], ["VER007"])):
        assert rules(base, log(record(wrong)), Evidence((base, *others), others))[0] == failures


@pytest.mark.parametrize(("first", "values", "compared"), [(0, [3.0, 1.0], 2), (1, [1.0, 9.0], 1), (5, [3.0, 1.0], 0)])
def test_elements_that_the_candidate_has_no_room_for_are_not_compared(
    first: int, values: list[float], compared: int
) -> None:
    base = log(record([3.0, 1.0]))
    found = log(replace(record(values), first=first, lower=first, upper=first + 2))
    (verdict,) = compare_logs(base, found, Evidence((base,)), lambda: Evidence((base,)))
    row = verdict.live_out
    assert (verdict.failures, row.compared, row.masked) == ((), compared, 2 - compared)
    assert [note.rule for note in verdict.notes] == ["VER022"] * (compared < 2)
