"""Whole ports as numbers: what is counted, and which of two is better."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.flows.optimizing.begun import PAIR, begin
from warpsmith.flows.optimizing.kept import CandidateOutcome
from warpsmith.flows.optimizing.scored import COPIES, HOST, is_better, score, seconds_of
from warpsmith.flows.porting.predicted import predict_port


def outcome(*parts: tuple[str, float], sectors: float = 1.0, instructions: float = 1.0) -> CandidateOutcome:
    return CandidateOutcome(sum(s for _, s in parts), sectors=sectors, instructions=instructions, parts=parts)


SLOW = outcome(("f/i", 1.0), ("g/i", 2.0), (COPIES, 500.0))


def test_what_is_the_same_in_both_hides_nothing() -> None:
    faster = outcome(("f/i", 0.5), ("g/i", 2.0), (COPIES, 500.0))
    assert is_better(faster, SLOW, 1.1) and not is_better(SLOW, faster, 1.1) and not is_better(SLOW, SLOW, 1.0)
    # 0.95 for 1.0 is no difference that a model can see
    assert not is_better(outcome(("f/i", 0.95), ("g/i", 2.0), (COPIES, 500.0)), SLOW, 1.1)
    assert is_better(outcome(("f/i", 1.0), (COPIES, 500.0)), SLOW, 1.1)
    # a kernel less, and longer copies
    assert not is_better(outcome(("f/i", 1.0), (COPIES, 503.0)), SLOW, 1.1)


def test_more_sectors_must_be_faster_by_as_much() -> None:
    half = (("f/i", 0.5), ("g/i", 2.0), (COPIES, 500.0))
    assert is_better(outcome(*half, sectors=1.7), SLOW, 1.1)
    assert not is_better(outcome(*half, sectors=1.9), SLOW, 1.1)
    assert not is_better(outcome(*half, instructions=1.9), SLOW, 1.1)


def test_a_kernel_without_a_time_is_in_both() -> None:
    faster, lacking = (("f/i", 0.1), (COPIES, 500.0)), ("?kernel", 0.0)
    assert is_better(outcome(*faster, lacking), outcome(*SLOW.parts, lacking), 1.1)
    assert not is_better(outcome(*faster), outcome(*SLOW.parts, lacking), 1.1)
    assert not is_better(outcome(*faster, lacking, lacking), outcome(*SLOW.parts, lacking), 1.1)


def test_a_port_is_the_sum_of_what_is_predicted_of_it(tmp_path: Path) -> None:
    begun = begin(PAIR, tmp_path)
    found = score(begun.root.planned, begun.shared.times)
    predicted = predict_port(begun.made.prepared, begun.made.ported, begun.shared.setting.options)
    assert predicted is not None and predicted.copies is not None and predicted.copies.seconds is not None
    kernels = [kernel.seconds for kernel in predicted.kernels]
    assert [seconds for name, seconds in found.parts if name not in (COPIES, HOST)] == pytest.approx(kernels)
    assert seconds_of(found, COPIES) == pytest.approx(predicted.copies.seconds)
    assert found.seconds is not None and found.seconds == pytest.approx(sum(seconds for _, seconds in found.parts))
    assert seconds_of(found, "nothing") is None
    # three launches of 4 us
    moved = sum(seconds for name, seconds in found.parts if name in (COPIES, HOST))
    assert found.least == pytest.approx(moved + 3 * 4e-6) and found.seconds > found.least


def test_the_host_counts_more_than_before_as_often_as_it_may_be_wrong(tmp_path: Path) -> None:
    begun = begin(PAIR, tmp_path)
    planned = begun.root.planned
    planned.estimate.host = 5.0
    assert seconds_of(score(planned, begun.shared.times), HOST) == 5.0
    assert seconds_of(score(planned, begun.shared.times, 2.0), HOST) == 2.0 + 3 * 3.0
    assert seconds_of(score(planned, begun.shared.times, 7.0), HOST) == 5.0


def test_sectors_and_instructions_are_weighed_against_another() -> None:
    one, other = (
        CandidateOutcome(2.0, sectors=30.0, instructions=8.0),
        CandidateOutcome(5.0, sectors=10.0, instructions=8.0),
    )
    assert one.weighed(other) == 6.0 and other.weighed(one) == 5.0
    assert replace(one, sectors=0.0).weighed(replace(other, sectors=0.0)) == 2.0
