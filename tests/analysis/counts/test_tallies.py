"""Counts that are taken so many times."""

from __future__ import annotations

import numpy as np

from warpsmith.analysis.counts.tallies import LINES, REQUESTS, Tallies
from warpsmith.ssa.nodes import Instruction


def test_a_part_is_taken_as_often_as_it_stands_for() -> None:
    load = Instruction("load", (), ())
    part, whole = Tallies(2), Tallies(2)
    part.visit("body", np.array([1, 2]), np.array([32, 40]))
    part.request(load, np.arange(10).reshape(5, 2))
    whole.visit("body", np.array([1, 1]), np.array([5, 5]))
    whole.take(part, 3)
    assert whole.visits["body"].tolist() == [4, 7] and whole.lanes["body"].tolist() == [101, 125]
    assert whole.requests[load][REQUESTS].tolist() == [0, 3] and whole.requests[load][LINES].tolist() == [24, 27]
    one = whole.added(np.array([10.0, 0.0]))
    assert one.visits["body"].tolist() == [40] and one.requests[load][LINES].tolist() == [240]
