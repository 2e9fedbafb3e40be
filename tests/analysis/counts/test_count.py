"""Launches counted, with what their blocks touch, against numbers worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from warpsmith.analysis.counts.count import Holding, LaunchCounts, count_launch
from warpsmith.analysis.uniformity.facts import Dim
from warpsmith.base.findings import Finding
from warpsmith.kernels.units import KernelFile, read_unit
from warpsmith.ssa.graph import Graph

TEXT = """
__global__ void product(int n, const float *a, const float *b, float *c) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n) {
        float sum = 0;
        for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
        c[i * n + j] = sum;
    }
}
__global__ void turned(int n, const float *a, float *b) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n) b[j * n + i] = a[i * n + j];
}
__global__ void gathered(int n, const int *p, const float *a, float *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = a[p[i]];
}
__global__ void chased(int n, const int *p, int *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (p[i] != i) i = p[i];
    b[i] = n;
}
"""
FLAT, WIDE = (32, 8, 1), (256, 1, 1)


def count(name: str, block: Dim, grid: Dim, arguments: Mapping[str, int]) -> LaunchCounts:
    unit = read_unit(KernelFile("k.cu", "cuda", text=TEXT))
    assert not isinstance(unit, Finding)
    function = unit.module.function(name)
    assert function is not None
    owner = unit.module, function, Graph.of(function)
    return count_launch(owner, (block, grid, 32), arguments, Holding(8, 64))


@pytest.mark.parametrize("n", [64, 1024])
def test_a_product_of_matrices(n: int) -> None:
    found = count("product", FLAT, (n // 32, n // 8, 1), {"n": n})
    assert found.exact and not found.lacks
    warps = n * n // 32
    by_sectors = sorted((a.requests, a.sectors) for a in found.accesses)
    assert by_sectors == [(warps, 4 * warps), (warps * n, warps * n), (warps * n, 4 * warps * n)]
    work = found.work
    assert work is not None
    # eight rows of a, 32 columns of b; all of both; a tile of c
    assert work.read.block == 8 * n / 8 + n * 4 and work.read.grid == 2 * n * n / 8
    assert work.written.block == 32 and work.written.grid == n * n / 8
    assert work.flops == 2 * n**3 and work.wide == 0
    # as many rows of blocks as run together have all of b, and their rows of a
    rows = min(n // 8, -(-64 // (n // 32)))
    assert work.read.together == n * n / 8 + rows * 8 * n / 8


def test_the_edge_of_a_grid_is_counted_exactly() -> None:
    n = 1000
    found = count("product", FLAT, (32, 125, 1), {"n": n})
    assert found.exact and found.looked_at == 16
    # in the last block of a row 8 of 32 threads have a column
    assert sum(a.lanes for a in found.accesses) == n * n * (2 * n + 1)


def test_a_matrix_that_is_turned_has_a_sector_a_lane() -> None:
    found = count("turned", FLAT, (32, 128, 1), {"n": 1024})
    sectors = {a.instruction.op: a.sectors / a.requests for a in found.accesses}
    assert sectors == {"load": 4, "store": 32}
    # but a block of 32 x 8 fills the sectors that it writes
    assert found.work is not None and found.work.written.block == 32


def test_what_is_lacking_is_named_and_nothing_is_predicted() -> None:
    gathered = count("gathered", WIDE, (100, 1, 1), {"n": 25_000})
    assert gathered.work is None and gathered.lacks == ("what is loaded in line 16",)
    assert [a.requests for a in gathered.accesses] == [782, 782, 782]
    chased = count("chased", WIDE, (100, 1, 1), {"n": 25_000})
    assert chased.work is None and "what is loaded in line 20" in chased.lacks[0] and not chased.visits
    assert count("product", FLAT, (4, 4, 1), {}).lacks[0].startswith("the argument n")
