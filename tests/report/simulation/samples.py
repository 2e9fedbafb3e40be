"""A run of a kernel, written by hand: what its formats are tried on."""

from __future__ import annotations

from msgspec.structs import replace

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.report.simulation.model import (
    BranchRow,
    Column,
    LaunchRow,
    MemoryRow,
    Mistake,
    OutputRow,
    SimulationReport,
    TimelineGroup,
    WarpStep,
    Work,
)

__all__ = ["FILE", "at", "run"]

FILE = SourceFile("k.cu", "".join(f"line {number};\n" for number in range(1, 10)))


def at(line: int) -> Span:
    """Return the word of a line."""
    return Span(FILE, FILE.offset(line), FILE.offset(line) + 4)


def run(**changes: object) -> SimulationReport:
    """Return a run of two warps with a race, a branch that parts them, and two accesses."""
    columns = (Column(((0, 0), (0, 1)), (0xFFFFFFFF, 0x0F)), Column(((0, 2),), (0xFFFFFFFF, 0)))
    made = SimulationReport(
        inputs=("k.cu",), status="negative", exit_code=1, kernel="k", device="h100",
        launch=LaunchRow((2, 1, 1), (8, 4, 1), 64, ("a=zeros:f32[8]",), 3, 1234),
        work=Work(10, 100, 400, 7),
        checks=("race", "oob"),
        branches=(BranchRow(at(3), "if", 10, 5, 20), BranchRow(None, "bra", 4, 0, 0)),
        memory=(
            MemoryRow(at(4), "load", "global", "a", 2, 64, 64, 8, 0),
            MemoryRow(at(4), "store", "shared", "s", 4, 32, 0, 0, 12),
        ),
        mistakes=(Mistake("race", Finding("SIM001", "error", "data race", at(4)), 0, 1, 3, (0, 2), "a[3]"),),
        outputs=(OutputRow("a", "f32", 9, 2, ("1", "2"), "a.npy"),),
        timeline=(TimelineGroup((WarpStep(0, 1, 3, "if (x)"), WarpStep(1, 4, 4, "a[x] = 1;")), columns),),
        timing_s={"run": 0.12345},
    )  # fmt: skip
    return replace(made, **changes)
