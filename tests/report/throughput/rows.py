"""A kernel on two GPUs, of which one has no text."""

from __future__ import annotations

from warpsmith.analysis.counts.predicted import PredictedTime
from warpsmith.base.findings import Finding
from warpsmith.machine.devices import device
from warpsmith.machine.time.predict import predict
from warpsmith.machine.time.work import LaunchWork, TouchedSectors, WarpInstructions
from warpsmith.report.throughput.model import GpuThroughput, ThroughputReport, ThroughputRow
from warpsmith.targets.llvm.sass import SassCount

__all__ = ["BLOCK", "GRID", "LACKING", "REPORT", "gpu"]

BLOCK, GRID = (256, 1, 1), (4096, 1, 1)
_BLOCKS, _WARPS = 4096, 4096 * 8
_TOUCHED = TouchedSectors(32, 32 * 132 * 8, 32 * 132 * 16, 32 * 4096)
WORK = LaunchWork(
    _BLOCKS, 8, 8, 8 * 132, WarpInstructions(integer=4 * _WARPS, memory=2 * _WARPS), 2 * _WARPS, 4 * _WARPS, 4 * _WARPS,
    2 * _WARPS, 0, 0, 0, _WARPS, _TOUCHED, _TOUCHED, (), 0, 0, 0,
)  # fmt: skip


def gpu(name: str, sass: SassCount | None, forks: tuple[str, ...] = ()) -> GpuThroughput:
    model = device(name)
    found = PredictedTime(BLOCK, GRID, predict(model, WORK), WORK, exact=not forks, forks=forks)
    return GpuThroughput(model, 12, 0, sass, "" if sass else "ptxas is not installed", found)


LACKING = GpuThroughput(
    device("h100"), 9, 16, SassCount(7, 1), "", PredictedTime(BLOCK, GRID, lacks=("the argument n (line 2)",))
)
REPORT = ThroughputReport((
    ThroughputRow("k.cu", "copy", (), BLOCK, GRID, ("--grid",),
                  (gpu("h100", SassCount(20, 1), ("what is loaded in line 3",)), gpu("rtx4090", None))),
    ThroughputRow("k.cu", "other", (), BLOCK, GRID, (), (LACKING,)),
    ThroughputRow("none.cu", "", (Finding("INP001", "error", "none.cu cannot be read"),)),
))  # fmt: skip
