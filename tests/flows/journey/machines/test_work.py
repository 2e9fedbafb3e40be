"""Launches go one after the other, each with what the one before it left."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from tests.flows.journey.begun import begun_step, begun_with, work_of
from warpsmith.flows.journey.machines.kernel_ir import run_compiled
from warpsmith.flows.journey.machines.work import MachineWork, launch_words
from warpsmith.flows.journey.reasons import UnableError
from warpsmith.targets.mask.code import LaunchWord


def test_each_launch_begins_with_what_the_one_before_left() -> None:
    work = work_of(begun_step())
    (call,) = work.version.calls
    twice = run_compiled(MachineWork(replace(work.version, calls=(call, call)), work.arrays, work.texts))
    once = work.arrays["v"] * 5 - 60
    assert np.array_equal(twice["v"], once * 5 - 60)
    assert not np.array_equal(work.arrays["v"], once)


def test_words_of_a_launch_are_its_sizes_and_arguments() -> None:
    (call,) = begun_step().versions[0].calls
    words = (LaunchWord("ntid.x", 0), LaunchWord("nctaid.x", 0), LaunchWord("n", 0))
    assert [*launch_words(words, call)] == [32, 2, 60]


def test_a_target_that_refuses_a_kernel_has_no_text() -> None:
    text = "__global__ void k(int *v) { __shared__ int s[32]; s[threadIdx.x] = v[0]; v[threadIdx.x] = s[0]; }\n"
    work = work_of(begun_with(text, ("v=zeros:i32[64]",)))
    with pytest.raises(UnableError, match=r"k\.cu:1:.*no shared memory"):
        work.text(work.version.kernels[0].name, "mask")
