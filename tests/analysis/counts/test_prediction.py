"""Predicted times of kernels as they are launched and otherwise."""

from __future__ import annotations

from tests.analysis.counts.test_count import TEXT
from warpsmith.analysis.counts.prediction import predict_blocks, predict_time
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.uniformity.facts import Dim, KernelFacts, LaunchShape
from warpsmith.base.findings import Finding
from warpsmith.kernels.units import KernelFile, read_unit
from warpsmith.machine.devices import device


def _facts(name: str, block: Dim, grid: Dim | None, gpu: str = "v100", **arguments: int) -> KernelFacts:
    unit = read_unit(KernelFile("k.cu", "cuda", text=TEXT))
    assert not isinstance(unit, Finding)
    return examine(unit.module, name, LaunchShape(block, grid, arguments), device(gpu))


def test_a_kernel_has_a_time_where_all_is_known() -> None:
    found = predict_time(_facts("turned", (32, 8, 1), (64, 256, 1), n=2048))
    assert found.exact and not found.lacks and found.occupancy is not None
    assert found.prediction is not None and found.prediction.terms.memory > 2 * 4 * 2048**2 / 900e9


def test_what_it_lacks_is_said() -> None:
    assert predict_time(_facts("turned", (32, 8, 1), None, n=2048)).lacks == ("the grid (--grid)",)
    assert predict_time(_facts("turned", (32, 8, 1), (64, 256, 1))).lacks[0].startswith("the argument n")
    other = predict_time(_facts("turned", (32, 8, 1), (64, 256, 1), "mi300x", n=2048))
    assert other.prediction is None and "occupancy rules" in other.lacks[0]


def test_blocks_that_write_whole_sectors_are_faster() -> None:
    facts = _facts("turned", (32, 1, 1), (32, 1024, 1), n=1024)
    choice = predict_blocks(facts)
    assert not choice.why and 0 < choice.ties < len(choice.choices)
    times = {one.block: one.prediction.seconds for one in choice.choices if one.prediction is not None}
    assert times[16, 16, 1] < times[256, 1, 1] and times[16, 16, 1] < times[1, 256, 1]
    assert choice.choices[0].block[0] >= 8


def test_no_other_blocks_without_a_grid() -> None:
    assert predict_blocks(_facts("turned", (32, 8, 1), None, n=64)).why == "it lacks the grid (--grid)"


CLAMPED = """
__global__ void clamped(float *a, const float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        if (b[i] > 0.5f)
            a[i] = b[i];
}
"""


ROUNDED = """
__global__ void rounded(float *a, float step, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int k = (int)floorf(erff(2.0f * i) * 8.0f);
    if (k < 7)
        a[k + i % n] = 1.0f;
}
"""


def test_what_a_function_of_mathematics_gives_is_not_known() -> None:
    unit = read_unit(KernelFile("k.cu", "cuda", text=ROUNDED))
    assert not isinstance(unit, Finding)
    shape = LaunchShape((256, 1, 1), (16, 1, 1), {"n": 64})
    found = predict_time(examine(unit.module, "rounded", shape, device("v100")))
    assert found.lacks == ("what erf gives in line 4",)


def test_a_branch_that_memory_decides_gives_a_time_at_most() -> None:
    unit = read_unit(KernelFile("k.cu", "cuda", text=CLAMPED))
    assert not isinstance(unit, Finding)
    shape = LaunchShape((256, 1, 1), (4096, 1, 1), {"n": 1 << 20})
    found = predict_time(examine(unit.module, "clamped", shape, device("v100")))
    assert found.forks and not found.exact and not found.lacks
    # every thread may write, and reads at least
    assert found.prediction is not None and found.prediction.traffic.memory_bytes == 2 * 4 * (1 << 20)
