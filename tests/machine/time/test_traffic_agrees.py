"""Predicted traffic against simulated caches, which know nothing of its formulas: kernels whose data are four times the
second cache, and the first a sixteenth of that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from warpsmith.analysis.counts.count import Holding, count_walk, walk_launch
from warpsmith.flows.simulate import SimulateOptions, start_launch
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.machine.time import traffic as formulas
from warpsmith.machine.time.traffic import Traffic, traffic
from warpsmith.simt.caches.fast import run_caches
from warpsmith.simt.caches.model import CacheCounts, CacheGeometry, OrderedRequests, geometry_of
from warpsmith.simt.caches.ordered import trace_launch
from warpsmith.ssa.graph import Graph

UNITS, RESIDENT = 8, 2
BEYOND = 1.4
"""How far what the second cache is asked for may be off."""
TEXT = """
#define X (blockIdx.x * blockDim.x + threadIdx.x)
#define Y (blockIdx.y * blockDim.y + threadIdx.y)
#define Z (blockIdx.z * blockDim.z + threadIdx.z)
__global__ void scale(double *a, const double *b, int n) { int i = X; if (i < n * n) a[i] = 3 * b[i]; }
__global__ void triangle(double *a, const double *b, int n) {
    int j = X, i = Y;
    if (i < n && j <= i) a[i * n + j] *= 2;
}
__global__ void planes(double *a, const double *b, int n) {
    int k = X + 1, j = Y + 1, i = Z + 1;
    if (i < n - 1 && j < n - 1 && k < n - 1)
        a[(i * n + j) * n + k] = b[((i - 1) * n + j) * n + k] + b[((i + 1) * n + j) * n + k]
            + b[(i * n + j - 1) * n + k] + b[(i * n + j + 1) * n + k]
            + b[(i * n + j) * n + k - 1] + b[(i * n + j) * n + k + 1];
}
__global__ void rows(double *a, const double *b, int n) {
    int i = X; double s = 0;
    if (i < n) { for (int j = 0; j < n; j++) s += b[i * n + j]; a[i] = s; }
}
__global__ void columns(double *a, const double *b, int n) {
    int j = X; double s = 0;
    if (j < n) { for (int i = 0; i < n; i++) s += b[i * n + j]; a[j] = s; }
}
__global__ void again(double *a, const double *b, int n) {
    int j = X;
    if (j < n)
        for (int i = 0; i < n; i += 8) {
            double s = 0;
            for (int k = 0; k < i; k++) s += b[k * n + j];
            a[i * n + j] = s;
        }
}
__global__ void running(double *a, const double *b, int n) {
    int j = X;
    if (j < n) for (int i = 0; i < n; i++) { a[i * n + j] = b[i * n + j] + 1; a[i * n + j] *= b[i * n + j]; }
}
"""
LAUNCHES: Mapping[str, tuple[Any, Any, int]] = {
    "scale": ((256, 1, 1), (157, 1, 1), 200),
    "triangle": ((256, 1, 1), (1, 200, 1), 200),
    "planes": ((32, 4, 1), (2, 10, 38), 40),
    "rows": ((32, 1, 1), (13, 1, 1), 400),
    "columns": ((32, 1, 1), (13, 1, 1), 400),
    "again": ((32, 1, 1), (7, 1, 1), 200),
    "running": ((64, 1, 1), (5, 1, 1), 300),
}


@pytest.fixture(scope="module")
def unit() -> KernelUnit:
    found = read_unit(KernelFile("k.cu", "cuda", (), TEXT))
    assert isinstance(found, KernelUnit)
    return found


def both(unit: KernelUnit, name: str) -> tuple[Traffic, Traffic]:
    """Return what is predicted, and what a run shows."""
    block, grid, n = LAUNCHES[name]
    size = n**3 if name == "planes" else n * n
    arguments = (f"a=zeros:f64[{size}]", f"b=rand:f64[{size}]", f"n={n}")
    options = SimulateOptions(name, block, grid, arguments, checks=())
    kernel, _, started = start_launch(unit, "k.cu", options)
    requests = trace_launch(unit.module, kernel.name, started.launch, started.memory)
    assert isinstance(requests, OrderedRequests), requests
    geometry = _geometry(requests)
    counts = run_caches(geometry, requests, 2).sum(axis=0)
    walk = walk_launch((unit.module, kernel, Graph.of(kernel)), (block, grid, 32), {"n": n})
    work = count_walk(walk, Holding(RESIDENT, RESIDENT * UNITS, 0)).work
    assert work is not None
    first, second = (128 * 16 * sets for sets in (geometry.first_sets, geometry.second_sets))
    asked = counts[CacheCounts.SECOND_HITS] + counts[CacheCounts.READ] + counts[CacheCounts.STORES]
    shown = Traffic(32.0 * float(asked), 32.0 * float(counts[CacheCounts.READ] + counts[CacheCounts.WRITTEN]))
    return traffic(work, first, second), shown


def _geometry(requests: OrderedRequests) -> CacheGeometry:
    second = 8 * len(np.unique(requests.sectors))
    return geometry_of(UNITS, RESIDENT, second // 16, second)


@pytest.mark.parametrize("name", LAUNCHES)
def test_memory_moves_what_simulated_caches_say(unit: KernelUnit, name: str) -> None:
    predicted, shown = both(unit, name)
    assert predicted.memory_bytes == pytest.approx(shown.memory_bytes, rel=0.15)
    assert predicted.l2_bytes == pytest.approx(shown.l2_bytes, rel=BEYOND - 1)


BUGS: Mapping[str, tuple[str, Any]] = {
    "nothing comes again": ("_more", lambda *given, **more: 0.0),
    "all comes again": ("_misses", lambda sweep, gone: sweep.sectors[0] * np.prod(sweep.times)),
    "waves share nothing": ("_fresh", lambda touched, room: touched.together),
    "waves share with the last one only": ("_fresh", lambda touched, room: touched.twice - touched.together),
    "a line is a sector": ("LINE_BYTES", 32),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_in_the_formulas_is_seen(unit: KernelUnit, bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formulas, *BUGS[bug])
    pairs = [both(unit, name) for name in LAUNCHES]
    wrong = [predicted.memory_bytes / shown.memory_bytes for predicted, shown in pairs]
    beyond = [predicted.l2_bytes / shown.l2_bytes for predicted, shown in pairs]
    near = all(1 / 1.15 <= ratio <= 1.15 for ratio in wrong)
    assert not near or not all(1 / BEYOND <= ratio <= BEYOND for ratio in beyond)
