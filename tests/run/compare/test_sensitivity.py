"""Other values are noticed where they are compared, and only there, in whatever form they were recorded."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from tests.run.compare.test_judge import log, record
from warpsmith.run.compare.captures import CaptureRecord, ElementSummary, ElementSums
from warpsmith.run.compare.judge import Evidence
from warpsmith.run.compare.sensitivity import tells_apart

VALUES = [1.0, 2.0, 3.0, 4.0]


def sampled(values: list[float], positions: list[int]) -> CaptureRecord:
    """Return a record of sums and a few elements of an object."""
    samples = np.array([values[p] for p in positions])
    summary = ElementSummary((ElementSums(0, 0, 0, 0),) * 3, np.array(positions), samples)
    return replace(record(values), hash=hash(samples.tobytes()) + 1, values=None, summary=summary)


def noticed(changed: CaptureRecord, *others: list[float]) -> bool:
    """Whether a changed record is noticed, where the original's further runs hold `others`."""
    base = record(VALUES)
    evidence = Evidence((log(base), *(log(record(other)) for other in others)))
    return tells_apart({0: base}, {0: changed}, evidence)


def test_other_values_are_noticed() -> None:
    assert noticed(record([1.0, 2.0, 3.0, 9.0]))
    assert noticed(sampled([1.0, 2.0, 3.0, 9.0], [0, 3]))


def test_values_that_are_left_out_are_not() -> None:
    assert not noticed(record([1.0, 2.0, 3.0, 9.0]), [1.0, 2.0, 3.0, 5.0])
    assert not noticed(sampled([1.0, 2.0, 3.0, 9.0], [0, 3]), [1.0, 2.0, 3.0, 5.0])
    assert not noticed(sampled([1.0, 2.0, 3.0, 9.0], [0, 1]))


def test_an_instance_that_the_original_did_not_record_tells_nothing() -> None:
    evidence = Evidence((log(record(VALUES)),))
    assert not tells_apart({0: record(VALUES)}, {5: replace(record([9.0] * 4), instance=5)}, evidence)
