"""The interpreter and the compiled machine run a version; what a kernel does wrong stops them."""

from __future__ import annotations

import pytest

from tests.flows.journey.begun import begun_with, work_of
from tests.flows.journey.machines.ran import step_by
from warpsmith.flows.journey.machines import kernel_ir
from warpsmith.flows.journey.machines.kernel_ir import run_compiled, run_interpreted
from warpsmith.flows.journey.reasons import StoppedError, UnableError

OUTSIDE = "__global__ void k(int *v) { v[threadIdx.x + 1000] = 1; }\n"


@pytest.mark.parametrize("run", [run_interpreted, run_compiled])
def test_the_small_kernel_is_computed(run: object) -> None:
    found = step_by(run)  # type: ignore[arg-type]
    assert (found.elements, found.differ) == (60, 0), found


def test_what_a_kernel_must_not_do_stops_it() -> None:
    with pytest.raises(StoppedError, match="of v, which has 256"):
        run_interpreted(work_of(begun_with(OUTSIDE, ("v=zeros:i32[64]",))))


def test_what_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_ir, "_INTERPRETED", 10)
    with pytest.raises(UnableError, match="given up") as raised:
        step_by(run_interpreted)
    assert not isinstance(raised.value, StoppedError)
