"""A kernel with clocks: its arguments are the views of the program that it becomes, and memory is as it leaves it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warpsmith.base.errors import InputError, UsageError
from warpsmith.flows.clocks.kernels import ClockKernel, lower_launch
from warpsmith.flows.clocks.simulate import ClockOptions, simulate_clocks
from warpsmith.flows.simulate import SimulateOptions
from warpsmith.kernels.units import KernelFile
from warpsmith.simt.launch import Dim

STEPS = """
__global__ void steps(int *out, const unsigned *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = in[i];
    int count = 0;
    while (v != 1) {
        v = v & 1 ? 3 * v + 1 : v / 2;
        ++count;
    }
    out[i] = count;
}
"""
PLACES = """
__global__ void places(int *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * gridDim.x * blockDim.x + x] = 100 * y + x;
}
"""
ARGUMENTS = ("n=40", "in=each:u32[n]=i+1", "out=const:i32[64]=-1")


def kernel(text: str, block: Dim, grid: Dim = (1, 1, 1)) -> ClockKernel:
    return ClockKernel(KernelFile("folder/k.cu", None, (), text), SimulateOptions(block=block, grid=grid))


def expected(value: int) -> int:
    count = 0
    while value != 1:
        value, count = (3 * value + 1 if value & 1 else value // 2), count + 1
    return count


def test_a_kernel_leaves_what_it_computes() -> None:
    report = simulate_clocks(kernel(STEPS, (16, 1, 1), (4, 1, 1)), ClockOptions(arguments=ARGUMENTS))
    history = report.history
    assert (report.exit_code, history.title) == (0, "k.cu")
    assert history.caption.startswith("4 groups of 16 threads on the machine of figures 1 to 3")
    left = history.run.views["u", 0].words.view(np.int32).tolist()
    assert left == [expected(one + 1) for one in range(40)] + [-1] * 24


def test_a_launch_in_two_dimensions() -> None:
    run = simulate_clocks(
        kernel(PLACES, (4, 2, 1), (2, 3, 1)), ClockOptions(arguments=("out=zeros:i32[48]",))
    ).history.run
    assert run.views["u", 0].words.reshape(6, 8).tolist() == [[100 * y + x for x in range(8)] for y in range(6)]


def test_a_launch_has_no_more_dimensions_than_its_kernel_asks_for() -> None:
    with pytest.raises(UsageError, match="steps asks for x only"):
        lower_launch(kernel(STEPS, (8, 2, 1)), ARGUMENTS)


def test_a_kernel_that_cannot_be_a_program_is_refused_at_its_line() -> None:
    text = "__global__ void k(float *a) { __shared__ float s[32]; s[threadIdx.x] = a[0]; a[1] = s[0]; }"
    with pytest.raises(InputError, match="the mask ISA has no shared memory: s"):
        lower_launch(kernel(text, (32, 1, 1)), ("a=zeros:f32[2]",))


def test_arrays_of_bytes_are_no_words() -> None:
    text = "__global__ void k(unsigned char *a) { ((int *)a)[threadIdx.x] = 1; }"
    with pytest.raises(UsageError, match="7 bytes are no words of 32 bits"):
        lower_launch(kernel(text, (1, 1, 1)), ("a=zeros:u8[7]",))


def test_the_program_is_the_text_of_lower(tmp_path: Path) -> None:
    lowered = lower_launch(kernel(STEPS, (16, 1, 1)), ARGUMENTS)
    assert lowered.program.path == "steps.mask"
    assert lowered.views["t", 2].words.tolist() == [40] and lowered.groups.size == 16
