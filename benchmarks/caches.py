"""Bytes that memory moves: the model's formulas against simulated caches, for kernels of ports.

python -m benchmarks.caches [PROGRAM...]

Each program of benchmarks/polybench is ported at MEDIUM, and of each of its kernels one launch (the one in the middle
of its different ones) is run with caches (simt/caches) so small that what the launch touches is four times the second:
UNITS multiprocessors with RESIDENT blocks, a first cache of a sixteenth of the second each. The model
(machine/time/traffic.py) gets the same sizes. Rows are in kB; a ratio is predicted / simulated.
"""

from __future__ import annotations

import math
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from benchmarks.against.__main__ import port_texts
from benchmarks.against.counters import arguments_of
from benchmarks.against.launches import Launched, record
from benchmarks.polybench import suite
from msgspec import Struct

from warpsmith.analysis.counts.count import Holding, count_walk, walk_launch
from warpsmith.base.findings import Finding
from warpsmith.flows.simulate import SimulateOptions, start_launch
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.machine.time.traffic import traffic
from warpsmith.simt.caches.fast import run_caches
from warpsmith.simt.caches.model import CacheCounts, geometry_of
from warpsmith.simt.caches.ordered import trace_launch
from warpsmith.ssa.graph import Graph

UNITS: Final = 8
RESIDENT: Final = 2
DATA_SET: Final = "MEDIUM"
TOUCHED: Final = 4
"""How many times as much as the second cache holds a launch touches."""
LEAST: Final = 1 << 14
"""Bytes of a second cache, at least: of launches that touch less there is no row."""


class Moved(Struct, frozen=True):
    """Bytes that the second cache is asked for, and that memory moves."""

    second: float
    memory: float


def main(words: Sequence[str]) -> int:
    """Print a row a kernel."""
    print(f"traffic of kernels, {DATA_SET}, {datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}")
    print(f"{'':32}{'touched':>9}{'second cache':>28}{'memory':>28}")
    print(f"{'kernel':32}{'kB':>9}" + f"{'predicted':>11}{'simulated':>11}{'':6}" * 2)
    ratios: list[float] = []
    for path in suite.programs():
        if not words or path.stem in words:
            ratios += _rows(path)
    if ratios:
        near = sum(1 / 1.15 <= ratio <= 1.15 for ratio in ratios)
        factors = [max(ratio, 1 / ratio) for ratio in ratios]
        print(f"memory: within 15 % in {near} of {len(ratios)}; off by {statistics.median(factors):.2f} in the median, "
              f"{max(factors):.2f} at most")  # fmt: skip
    return 0


def _rows(path: Path) -> Iterator[float]:
    """Print a row for each kernel of a program; yield its ratio of memory."""
    with tempfile.TemporaryDirectory() as folder:
        made = port_texts(path, DATA_SET, Path(folder))
        if isinstance(made, str):
            print(f"{path.stem:32}{made}")
            return
        texts, kernels = made
        try:
            recorded = record(texts, Path(folder), (suite.FOLDER,), (f"-D{DATA_SET}_DATASET",))
        except (RuntimeError, subprocess.CalledProcessError) as problem:
            print(f"{path.stem:32}{str(problem)[:100]}")
            return
    unit = read_unit(KernelFile("kernels.cu", "cuda", (), kernels))
    assert not isinstance(unit, Finding)
    for name in dict.fromkeys(launched.kernel for launched in recorded.launches):
        different = [launched for launched in recorded.launches if launched.kernel == name]
        yield from _row(unit, kernels, different[len(different) // 2])


def _row(unit: KernelUnit, text: str, launched: Launched) -> Iterator[float]:
    given = tuple(arguments_of(unit, text, launched))
    options = SimulateOptions(launched.kernel, launched.block, launched.grid, given, checks=())
    kernel, _, started = start_launch(unit, "kernels.cu", options)
    shown = launched.kernel.removeprefix("ws_").removesuffix("_kernel")
    requests = trace_launch(unit.module, kernel.name, started.launch, started.memory)
    if isinstance(requests, str):
        print(f"{shown:32}{requests}")
        return
    touched = 32 * len(set(requests.sectors.tolist()))
    second = touched // TOUCHED
    if second < LEAST:
        return
    geometry = geometry_of(UNITS, RESIDENT, second // 16, second)
    counts = run_caches(geometry, requests, len(started.memory.buffers)).sum(axis=0)
    asked = 32 * int(counts[CacheCounts.SECOND_HITS] + counts[CacheCounts.READ] + counts[CacheCounts.STORES])
    simulated = Moved(asked, 32 * int(counts[CacheCounts.READ] + counts[CacheCounts.WRITTEN]))
    sizes = {one.name: int(word[2:]) for one, word in zip(kernel.parameters, launched.arguments, strict=True)
             if word[0] == "i"}  # fmt: skip
    owner = unit.module, kernel, Graph.of(kernel)
    walk = walk_launch(owner, (launched.block, launched.grid, 32), sizes)
    counted = count_walk(walk, Holding(RESIDENT, RESIDENT * UNITS, 0))
    if counted.work is None:
        print(f"{shown:32}{touched / 1e3:9.1f}  not counted: {', '.join(counted.lacks)[:90]}")
        return
    line = 128 * geometry.first_ways
    found = traffic(counted.work, geometry.first_sets * line, geometry.second_sets * line)
    ratio = found.memory_bytes / simulated.memory
    print(f"{shown:32}{touched / 1e3:9.1f}"
          f"{found.l2_bytes / 1e3:11.1f}{simulated.second / 1e3:11.1f}{found.l2_bytes / simulated.second:6.2f}"
          f"{found.memory_bytes / 1e3:11.1f}{simulated.memory / 1e3:11.1f}{ratio:6.2f}", flush=True)  # fmt: skip
    if math.isfinite(ratio) and ratio > 0:
        yield ratio


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
