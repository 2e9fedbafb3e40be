"""Brook+ that `lower` writes is read back and run."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.flows.journey.begun import begun_step, work_of
from tests.flows.journey.machines.ran import step_by, step_with_text
from warpsmith.flows.journey.machines.brook import run_brook
from warpsmith.flows.journey.machines.work import MachineWork
from warpsmith.flows.journey.reasons import UnableError


def test_the_small_kernel_is_computed() -> None:
    found = step_by(run_brook)
    assert (found.elements, found.differ) == (60, 0), found


def test_an_instruction_that_is_wrong_is_seen() -> None:
    assert step_with_text(run_brook, "brook", "* 5", "* 4").differ


def test_a_launch_of_several_axes_has_no_stream_of_one() -> None:
    work = work_of(begun_step())
    (call,) = work.version.calls
    wide = replace(call, launch=replace(call.launch, block=(16, 2, 1)))
    with pytest.raises(UnableError, match="one element for each thread along x"):
        run_brook(MachineWork(replace(work.version, calls=(wide,)), work.arrays, work.texts))
