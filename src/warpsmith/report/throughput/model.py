"""The report on how many threads a second GPUs finish of kernels."""

from __future__ import annotations

from msgspec import Struct

from warpsmith.analysis.counts.predicted import PredictedTime
from warpsmith.analysis.uniformity.facts import Dim
from warpsmith.base.findings import Finding
from warpsmith.machine.devices import Device
from warpsmith.report.status import Status
from warpsmith.targets.llvm.sass import SassCount

__all__ = ["GpuThroughput", "Throughput", "ThroughputReport", "ThroughputRow"]

_MEGA = 1e6


class Throughput(Struct, frozen=True):
    """While launches follow each other: `cycles` of a multiprocessor for each warp, `mega_threads` a second, and the
    part of the GPU that decides (`decides`, a term of the time model)."""

    cycles: float
    mega_threads: float
    decides: str


class GpuThroughput(Struct, frozen=True):
    """A kernel on one GPU. `registers` of a thread, estimated where `sass` is None, for which `unread` says why;
    `sass`: of the text that runs; `predicted`: of the launch."""

    device: Device
    registers: int
    spill_bytes: int
    sass: SassCount | None
    unread: str
    predicted: PredictedTime

    @property
    def throughput(self) -> Throughput | None:
        """What follows from the predicted time; None where there is none."""
        made, work = self.predicted.prediction, self.predicted.work
        if made is None or work is None:
            return None
        decides, seconds = made.steady
        cycles = seconds * self.device.units * self.device.clock_mhz * _MEGA / work.warps
        x, y, z = self.predicted.block
        return Throughput(cycles, work.blocks * x * y * z / seconds / _MEGA, decides)


class ThroughputRow(Struct, frozen=True):
    """A kernel of a file, or what is wrong with the file (`kernel`: ""). `guessed`: options that would say what nobody
    said of the launch."""

    path: str
    kernel: str
    findings: tuple[Finding, ...] = ()
    block: Dim = (0, 0, 0)
    grid: Dim = (0, 0, 0)
    guessed: tuple[str, ...] = ()
    gpus: tuple[GpuThroughput, ...] = ()


class ThroughputReport(Struct, frozen=True):
    """All kernels."""

    rows: tuple[ThroughputRow, ...]

    @property
    def status(self) -> Status:
        """How it ended: an error of some files leaves the report incomplete, one of all is an error."""
        wrong = any(one.severity == "error" for row in self.rows for one in row.findings)
        return "ok" if not wrong else "incomplete" if any(row.gpus for row in self.rows) else "error"

    @property
    def exit_code(self) -> int:
        """The exit code that follows."""
        return {"ok": 0, "incomplete": 3, "error": 2, "negative": 1}[self.status]
