"""Large objects, of which sums of runs of elements and samples stand in for the elements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from msgspec.structs import replace

from warpsmith.run.compare.captures import CaptureRecord, ElementSummary, ElementSums
from warpsmith.run.compare.judge_summary import judge_summaries
from warpsmith.run.compare.judgment import Judgment
from warpsmith.run.compare.tolerance import EXACT, Allowance

NAN = float("nan")
Values = Sequence[float]


def block(value: float, *, odd: int = 0, hash: int = 0) -> ElementSums:
    return ElementSums(value, abs(value), odd, hash or int(value * 1e6))


def summarized(*blocks: ElementSums, samples: Values = (1.0, 2.0), first: int = 0, dtype: str = "f8") -> CaptureRecord:
    """Return the record of elements [first, 30) of which the section is [10, 20): one run before it, one behind it."""
    summary = ElementSummary(blocks, np.array([3, 12]), np.array(samples, dtype))
    return CaptureRecord("r", "y", 0, first, 30 - first, 10, 20, "allocation", 1, 0, (), None, summary)


PLAIN = tuple(map(block, (1.0, 2.0, 3.0, 4.0)))
BASE = summarized(*PLAIN)


def changed(number: int, new: ElementSums) -> CaptureRecord:
    return summarized(*(new if at == number else old for at, old in enumerate(PLAIN)))


def judge(
    found: CaptureRecord,
    again: Sequence[CaptureRecord] = (),
    variants: Sequence[CaptureRecord] = (),
    allowance: Allowance | None = None,
    size: float | None = None,
) -> Judgment:
    others = list(again), list(variants)
    return judge_summaries(BASE, found, others, (allowance, size is not None, size or 0.0))


def fails(judged: Judgment) -> bool:
    return judged.comparison.first is not None


def test_equal_sums_and_samples_pass() -> None:
    judged = judge(BASE)
    assert not fails(judged) and (judged.where, judged.masked, judged.ill_conditioned) == ("", 0, False)


@pytest.mark.parametrize("found", [replace(BASE, count=29), replace(BASE, first=1), replace(BASE, summary=None)])
def test_another_extent_or_no_sums_fail(found: CaptureRecord) -> None:
    judged = judge(found)
    assert (judged.comparison.first, judged.comparison.failing) == (0, 1)
    assert judged.where == "its extent differs from the original's"


def test_a_sample_is_named_by_its_place_in_the_object() -> None:
    assert judge(summarized(*PLAIN, samples=(1.0, 7.0))).where == "y[12] is 7.0, the original has 2.0"
    base, other = (summarized(*PLAIN, samples=(1.0, end), first=-5) for end in (2.0, 7.0))
    judged = judge_summaries(base, other, ([], []), (None, False, 0.0))
    assert judged.where == "y[7] is 7.0, the original has 2.0"


@pytest.mark.parametrize(("number", "place"), [(0, "y[0..9]"), (1, "y[10..14]"), (2, "y[15..19]"), (3, "y[20..29]")])
def test_a_run_of_elements_is_named_by_its_bounds(number: int, place: str) -> None:
    judged = judge(changed(number, block(9.0)))
    assert judged.comparison.failing == 1
    assert judged.where == f"the elements {place} differ in their sum or hash"


def test_a_section_of_one_run_has_the_bounds_of_the_section() -> None:
    base, other = (summarized(block(1.0), block(end)) for end in (2.0, 9.0))
    assert "y[10..29]" in judge_summaries(base, other, ([], []), (None, False, 0.0)).where


def test_stale_elements_are_left_out_with_the_runs_outside_of_the_section() -> None:
    stale = ((3, 4),)
    assert not fails(judge(replace(summarized(*PLAIN, samples=(9.0, 2.0)), stale=stale)))
    assert fails(judge(replace(summarized(*PLAIN, samples=(1.0, 9.0)), stale=stale)))
    for number, seen in enumerate((False, True, True, False)):
        assert fails(judge(replace(changed(number, block(9.0)), stale=stale))) == seen


def test_a_run_that_differs_between_runs_of_the_original_is_left_out_and_counted() -> None:
    again = (BASE, changed(2, block(3.5)))
    assert judge(BASE, again).masked == 5
    assert not fails(judge(changed(2, block(9.0)), again))
    assert fails(judge(changed(1, block(9.0)), again))
    # the runs outside of the section have no results of the region
    assert judge(BASE, (BASE, changed(0, block(3.5)))).masked == 0


def test_a_run_that_is_finite_in_one_build_only_is_left_out() -> None:
    variants = [changed(1, block(2.0, odd=1, hash=5))]
    assert judge(BASE, variants=variants).masked == 5
    assert not fails(judge(changed(1, block(9.0)), variants=variants))
    assert fails(judge(changed(1, block(2.0, odd=1, hash=5))))


def test_sums_may_lie_as_far_apart_as_in_the_originals_builds() -> None:
    variants = [changed(1, block(2.0 + 1e-6))]
    near, far = (changed(2, block(3.0 + off)) for off in (3.9e-6, 4.2e-6))
    assert (fails(judge(near, variants=variants)), fails(judge(far, variants=variants))) == (False, True)
    assert fails(judge(near))
    assert not fails(judge(changed(2, block(3.0 + 1e-15, hash=5))))


def test_magnitudes_are_compared_as_well() -> None:
    """A sum alone does not notice what two elements exchange."""
    assert fails(judge(changed(1, ElementSums(2.0, 6.0, 0, 5))))


def test_sums_in_another_order_may_be_off_by_ulps_of_the_largest_number() -> None:
    near = changed(2, block(3.0 + 1e-6, hash=5))
    assert fails(judge(near, size=1.0))
    assert not fails(judge(near, size=1e9))


@pytest.mark.parametrize(
    ("allowance", "off", "wrong"),
    [
        (Allowance(absolute=0.5), 0.4, False),
        (Allowance(absolute=0.5), 0.6, True),
        (Allowance(relative=0.1), 0.25, False),
        (Allowance(relative=0.1), 0.35, True),
        (EXACT, 1e-15, True),
    ],
)
def test_a_given_allowance_holds_for_sums(allowance: Allowance, off: float, wrong: bool) -> None:
    assert fails(judge(changed(2, block(3.0 + off, hash=5)), allowance=allowance)) == wrong


def test_sums_of_integers_are_compared_by_their_hash() -> None:
    base, other = (summarized(*PLAIN[:3], block(4.0, hash=n), dtype="i8") for n in (4, 5))
    assert fails(judge_summaries(base, other, ([], []), (None, False, 0.0)))


def test_samples_that_the_builds_disagree_about_say_little() -> None:
    variants = [summarized(*PLAIN, samples=(1.0, 2.5))]
    assert judge(BASE, variants=variants).ill_conditioned
    unlike = [summarized(*PLAIN, samples=(1.0, NAN))]
    assert judge(BASE, variants=unlike).ill_conditioned
    assert not fails(judge(summarized(*PLAIN, samples=(1.0, NAN)), variants=unlike))
