"""Launches counted, with what their blocks touch, against numbers worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from warpsmith.analysis.counts import threads, walk
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
__global__ void shifted(int n, const float *p, const float *a, float *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[k * 4096 + i + (int)(p[k] * i)];
    b[i] = sum;
}
__global__ void tiled(int n, float *a) {
    int x = blockIdx.x * blockDim.x * 3 + threadIdx.x, y = blockIdx.y * blockDim.y * 2 + threadIdx.y;
    for (int t = 0; t < 3; t++)
        for (int u = 0; u < 2; u++) {
            int i = x + t * blockDim.x, j = y + u * blockDim.y;
            if (i < n && j < n) a[j * n + i] *= 2;
        }
}
"""
FLAT, WIDE = (32, 8, 1), (256, 1, 1)


def count(
    name: str, block: Dim, grid: Dim, arguments: Mapping[str, int], *, alike: bool = False, both: bool = False
) -> LaunchCounts:
    unit = read_unit(KernelFile("k.cu", "cuda", text=TEXT))
    assert not isinstance(unit, Finding)
    function = unit.module.function(name)
    assert function is not None
    owner = unit.module, function, Graph.of(function)
    return count_launch(owner, (block, grid, 32), arguments, Holding(8, 64), alike=alike, both=both)


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


@pytest.mark.parametrize(("n", "grid"), [(300, (40, 30, 1)), (960, (10, 60, 1)), (6400, (40, 30, 1))])
def test_blocks_that_have_nothing_to_do_are_counted_exactly(n: int, grid: Dim, monkeypatch: pytest.MonkeyPatch) -> None:
    found = count("tiled", FLAT, grid, {"n": n})
    assert sum(a.lanes for a in found.accesses) == 2 * min(n, 96 * grid[0]) * min(n, 16 * grid[1])
    monkeypatch.setattr(threads, "_MOST", 1 << 40)
    monkeypatch.setattr(threads, "_FEW", 1 << 20)
    every = count("tiled", FLAT, grid, {"n": n})
    assert every.exact and every.looked_at == grid[0] * grid[1]
    assert [(a.requests, a.lanes, a.sectors) for a in found.accesses] == [
        (a.requests, a.lanes, a.sectors) for a in every.accesses
    ]
    assert found.visits == every.visits
    work, whole = found.work, every.work
    assert work is not None and whole is not None and work.read.block == pytest.approx(whole.read.block)
    assert work.read.grid == pytest.approx(whole.read.grid, rel=0.05)


def test_blocks_at_which_threads_begin_to_do_otherwise_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk.WarpWalk, "_find_cuts", lambda *given: None)
    found = count("tiled", FLAT, (40, 30, 1), {"n": 300})
    assert not found.exact and sum(a.lanes for a in found.accesses) > 3 * 300 * 300


def test_an_address_that_memory_decides_is_guessed_where_it_is_asked_for() -> None:
    plain, guessed = (count("gathered", WIDE, (4, 1, 1), {"n": 1024}, alike=alike) for alike in (False, True))
    assert plain.work is None and plain.lacks and not plain.alike
    assert guessed.work is not None and not guessed.exact and guessed.alike == plain.lacks
    sectors = sorted(a.sectors / a.requests for a in guessed.accesses)
    assert sectors == [1, 4, 4], "all lanes have the same element of a"


def test_a_shift_that_memory_decides_leaves_the_shape() -> None:
    found = count("shifted", WIDE, (4, 1, 1), {"n": 300}, alike=True)
    assert found.work is not None and len(found.alike) == 1
    assert max(a.requests for a in found.accesses) == 32 * 300
    assert {a.sectors / a.requests for a in found.accesses} == {1, 4}
    # rows of a, 16 KiB each, of which 1,024 floats are touched, and p
    assert found.work.read.grid == 300 * 1024 * 4 / 32 + -(-300 * 4 // 32)


def test_a_guess_decides_no_branch() -> None:
    assert count("chased", WIDE, (4, 1, 1), {"n": 4}, alike=True, both=True).work is None
