"""Requests of a launch, in the order in which caches see them: those of the interpreter, put into order."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from warpsmith.flows.simulate import SimulateOptions, start_launch
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.simt.caches import ordered
from warpsmith.simt.caches.model import OrderedRequests
from warpsmith.simt.caches.ordered import order_requests, trace_launch
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.tally import Tally

TEXT = """
__global__ void turned(const float *in, float *out, int n) {
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < n && y < n) tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x; y = blockIdx.x * 16 + threadIdx.y;
    if (x < n && y < n) out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void gathered(const int *at, const double2 *in, double *sums) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    double2 one = in[at[t]];
    for (int k = 0; k < (t & 3); k++) atomicAdd(&sums[at[t + k] & 7], one.x + one.y);
}
"""
TURNED = ("in=rand:f32[1600]", "out=zeros:f32[1600]", "n=40")
GATHERED = ("at=rand:i32[100]:below=64", "in=rand:f64[128]", "sums=zeros:f64[8]")


@pytest.fixture(scope="module")
def unit() -> KernelUnit:
    found = read_unit(KernelFile("k.cu", "cuda", (), TEXT))
    assert isinstance(found, KernelUnit)
    return found


def options(kernel: str) -> SimulateOptions:
    if kernel == "turned":
        return SimulateOptions(kernel, (16, 16, 1), (3, 3, 1), TURNED, checks=())
    return SimulateOptions(kernel, (40, 1, 1), (2, 1, 1), GATHERED, checks=())


def traced(unit: KernelUnit, kernel: str) -> OrderedRequests:
    function, _, started = start_launch(unit, "k.cu", options(kernel))
    found = trace_launch(unit.module, function.name, started.launch, started.memory)
    assert isinstance(found, OrderedRequests), found
    return found


@pytest.mark.parametrize("kernel", ["turned", "gathered"])
def test_each_request_of_the_interpreter_is_there(unit: KernelUnit, kernel: str) -> None:
    found = traced(unit, kernel)
    function, _, started = start_launch(unit, "k.cu", options(kernel))
    tally = Tally(order={})
    interpret(unit.module, function.name, started.launch, started.memory, tally)
    wanted: Counter[tuple[bool, frozenset[int]]] = Counter()
    for one in tally.requests():
        if one.space == "global":
            touched = {(address + at) // 32 for address in one.addresses.values() for at in range(one.bytes)}
            wanted[one.place.op == "load", frozenset(touched)] += 1
    seen: Counter[tuple[bool, frozenset[int]]] = Counter()
    for record, kind in enumerate(found.kinds.tolist()):
        first, last = found.places[record : record + 2].tolist()
        sectors = found.sectors[first:last].tolist()
        assert len(sectors) == len(set(sectors))
        seen[kind == 0, frozenset(sectors)] += 1
    assert seen == wanted


def test_arrays_are_told_apart(unit: KernelUnit) -> None:
    found = traced(unit, "gathered")
    by_kind = {kind: set(found.arrays[found.kinds == kind].tolist()) for kind in (0, 1, 2)}
    assert by_kind == {0: {0, 1}, 1: set(), 2: {2}}


def test_warps_take_turns_between_two_barriers() -> None:
    # block 0: warp 0 asks twice, warp 1 once, and both once behind the barrier; block 1: warp 0 once
    rows = [(0, 0, 0, 1), (0, 0, 0, 2), (0, 0, 1, 3), (0, 1, 0, 4), (0, 1, 1, 5), (1, 0, 0, 6)]
    records = np.array([(block << 32 | epoch, warp << 16 | 1) for block, epoch, warp, _ in rows], "<i8")
    sectors = np.array([sector for *_, sector in rows], "<i8")
    found = order_requests(records, sectors, 2, np.array([0]))
    assert found.sectors.tolist() == [1, 3, 2, 4, 5, 6]
    assert found.starts.tolist() == [0, 5, 6] and found.blocks == 2
    assert found.places.tolist() == [0, 1, 2, 3, 4, 5, 6]


def test_a_launch_without_requests_and_blocks_without_any() -> None:
    none = order_requests(np.zeros((0, 2), "<i8"), np.zeros(0, "<i8"), 3, np.array([0]))
    assert none.starts.tolist() == [0, 0, 0, 0] and none.blocks == 3
    one = order_requests(np.array([(1 << 32, 2)], "<i8"), np.array([5, 9], "<i8"), 3, np.array([0, 256]))
    assert one.starts.tolist() == [0, 0, 1, 1] and one.arrays.tolist() == [0]


def test_a_trace_that_has_no_room_is_told(unit: KernelUnit, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_RECORDS", "_SECTORS"):
        with monkeypatch.context() as patched:
            patched.setattr(ordered, name, 12)
            function, _, started = start_launch(unit, "k.cu", options("gathered"))
            found = trace_launch(unit.module, function.name, started.launch, started.memory)
            assert isinstance(found, str) and "make it smaller" in found


def test_what_stops_a_run_is_told() -> None:
    found = read_unit(KernelFile("k.cu", "cuda", (), "__global__ void k(int *a) { a[threadIdx.x * 100] = 1; }"))
    assert isinstance(found, KernelUnit)
    function, _, started = start_launch(found, "k.cu", SimulateOptions(block=(32, 1, 1), arguments=("a=zeros:i32[8]",)))
    why = trace_launch(found.module, function.name, started.launch, started.memory)
    assert why == "the run was stopped: an access out of bounds by thread 1 of block 0"
    with pytest.raises(KeyError):
        trace_launch(found.module, "other", started.launch, started.memory)
