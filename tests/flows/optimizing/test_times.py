"""Times of kernels: those of a port of them, whatever was asked before."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from tests.flows.optimizing.begun import PAIR, Begun, begin
from warpsmith.flows.optimizing.nests import outcome_of
from warpsmith.flows.optimizing.times import KernelTimes
from warpsmith.report.model import KernelPrediction
from warpsmith.tree.program import Kernel


def kernel(begun: Begun, region: str) -> Kernel:
    return next(f.kernel for f in begun.root.planned.port.plan.fragments if f.region == region)


def timed(begun: Begun, times: KernelTimes, one: Kernel) -> KernelPrediction:
    planned = begun.root.planned
    text = times.texts(planned.port.program, [one])[one.name]
    return times.predict(one, text, planned.estimate.kernels[one.name])


def test_each_launch_is_counted_once(tmp_path: Path) -> None:
    begun = begin(PAIR, tmp_path)
    times, one = begun.shared.times, kernel(begun, "turn/i")
    first = timed(begun, times, one)
    assert times.counted == 1 and timed(begun, times, one) == first and times.counted == 1
    other = timed(begun, times, replace(one, block=(32, 1, 1)))
    assert times.counted == 2 and first.time is not None and other.time is not None
    # both move the same bytes, which decide; but half as many warps wait at a time
    least, most = first.time.prediction, other.time.prediction
    assert least is not None and most is not None and most.terms.latency > least.terms.latency
    assert other.time.block == (32, 1, 1)


def test_the_name_of_a_kernel_is_not_in_its_text(tmp_path: Path) -> None:
    begun = begin(PAIR, tmp_path)
    kernels = [fragment.kernel for fragment in begun.root.planned.port.plan.fragments]
    texts = begun.shared.times.texts(begun.root.planned.port.program, kernels)
    assert sorted(texts) == sorted(one.name for one in kernels) and len(set(texts.values())) == 3
    assert not any(one.name in texts[one.name] for one in kernels)


def test_other_launches_are_counted_anew(tmp_path: Path) -> None:
    begun = begin(PAIR, tmp_path)
    times, one = begun.shared.times, kernel(begun, "turn/i")
    first = timed(begun, times, one)
    launched = begun.root.planned.estimate.kernels[one.name]
    launched.places[0] = replace(launched.places[0], times=3.0)
    assert timed(begun, times, one).seconds == pytest.approx(3 * (first.seconds or 0))
    launched.places[0] = replace(launched.places[0], launch=replace(launched.places[0].launch, arguments=()))
    assert timed(begun, times, one).lacks == ("launches with the parameters of this kernel",)


HEAT = """
static double A[40][40][40], B[40][40][40];
void heat(void) {
    for (int i = 1; i < 39; i++)
        for (int j = 1; j < 39; j++)
            for (int k = 1; k < 39; k++)
                B[i][j][k] = A[i - 1][j][k] + A[i + 1][j][k] + A[i][j - 1][k] + A[i][j][k + 1];
}
"""


def test_times_are_numbers_that_can_be_kept(tmp_path: Path) -> None:
    begun = begin(HEAT, tmp_path)
    times, one = begun.shared.times, kernel(begun, "heat/i")
    found = outcome_of(timed(begun, times, replace(one, block=(16, 16, 1))))
    assert type(found.seconds) is float and msgspec.msgpack.decode(msgspec.msgpack.encode(found))
