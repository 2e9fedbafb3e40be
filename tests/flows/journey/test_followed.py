"""Launches are followed one by one, and counted."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tests.flows.journey.begun import begun_step, begun_with
from warpsmith.flows.journey.followed import count_calls, follow, follow_all, longest_calls
from warpsmith.flows.journey.origin import begin
from warpsmith.flows.journey.subjects import own_subject

OUTSIDE = "__global__ void k(int *v) { v[threadIdx.x + 1000] = 1; }\n"


def test_each_launch_has_what_the_one_before_left() -> None:
    _, begun = begin(own_subject("bitonic"))
    port = begun.versions[0]
    followed = follow(port, begun.inputs.arrays)
    assert [one.number for one in followed] == [*range(1, 22)]
    for one, other in pairwise(followed):
        assert np.array_equal(one.after["x"], other.before["x"])
    assert followed[-1].after["x"].tolist() == sorted(begun.inputs.arrays["x"].tolist())
    (longest,) = longest_calls(followed)
    assert longest.done.totals.lane_instructions == max(one.done.totals.lane_instructions for one in followed)


def test_counters_are_those_of_two_warps_a_line_each() -> None:
    (version,) = begun_step().versions
    counted = count_calls(follow(version, begun_step().inputs.arrays))
    # 60 numbers are read and written, eight to a sector
    assert (counted.launches, counted.sectors, counted.bank_conflicts) == (1, 16, 0)
    assert 0.9 < counted.efficiency < 1


def test_a_version_that_is_stopped_says_why() -> None:
    begun = begun_with(OUTSIDE, ("v=zeros:i32[64]",))
    followed = follow_all(begun.versions, begun.inputs.arrays)
    assert followed.of(begun.versions[0]) == () and "of v, which has 256" in followed.why[0]
