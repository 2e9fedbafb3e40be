"""A launch with caches: figures worked by hand, and what has none."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from warpsmith.flows.repeated import caches
from warpsmith.flows.simulate import SimulateOptions, simulate
from warpsmith.kernels.units import KernelFile
from warpsmith.report.simulation.model import CacheRow, SimulationReport

TEXT = """
__global__ void twice(const float *a, float *b, int n) {
    __shared__ float s[4096];
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = a[t];
    __syncthreads();
    if (t < n) b[t] = s[threadIdx.x ^ 1] + a[t];
}
"""
OPTIONS = SimulateOptions(
    block=(256, 1, 1), grid=(4, 1, 1), arguments=("a=rand:f32[1024]", "b=zeros:f32[1024]", "n=1024"),
    device="h100", caches=True,
)  # fmt: skip


def run(text: str = TEXT, options: SimulateOptions = OPTIONS) -> SimulationReport:
    return simulate(KernelFile("k.cu", "cuda", (), text), options)


def test_each_array_is_read_once_and_written_once() -> None:
    found = run()
    assert found.caches is not None and found.exit_code == 0
    # 1,024 floats are 128 sectors; the second load finds them in the first cache
    assert found.caches.rows == (CacheRow("a", 256, 128, 0, 128, 0, 0, 0), CacheRow("b", 0, 0, 0, 0, 128, 128, 0))
    assert found.outputs[0].changed == 1024


def test_shared_memory_leaves_less_of_the_first_cache() -> None:
    found = run().caches
    assert found is not None and found.resident == 8
    # 8 blocks with 16 KiB each leave half of 256 KiB
    assert found.first_bytes == 128 << 10 and found.second_bytes == 50 << 20


def test_where_there_are_no_caches_it_is_told() -> None:
    amd = run(options=replace(OPTIONS, device="mi300x")).caches
    assert amd is not None and amd.why == "the caches of Instinct MI300X are not known"
    large = run(options=replace(OPTIONS, shared=300_000)).caches
    assert large is not None and large.why.startswith("a block does not fit")
    assert run(options=replace(OPTIONS, caches=False)).caches is None


def test_a_kernel_that_does_not_end_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = TEXT.replace("__syncthreads();", "while (s[0] >= 0) s[0] = 1;")
    found = run(endless, replace(OPTIONS, max_steps=20_000, checks=())).caches
    assert found is not None and found.why.startswith("the run was stopped: ")

    def interrupt(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(caches, "trace_launch", interrupt)
    stopped = run()
    assert (stopped.exit_code, stopped.caches) == (130, None) and stopped.work is not None
