"""A journey by hand, in which everything happens that a report has to show."""

from __future__ import annotations

from warpsmith.report.analysis.numbers import COLUMNS
from warpsmith.report.journey.model import (
    CallCounts,
    FigureRow,
    FindingRow,
    FoundStage,
    Journey,
    LoopRow,
    MachineRow,
    MachineStage,
    OriginRow,
    OriginStage,
    RewriteRow,
    RewriteStage,
    StreamRow,
    StreamStage,
    TargetRow,
    TargetStage,
    WidthRow,
    WidthStage,
)

__all__ = ["made_journey"]


def made_journey(*, stopped: bool = True) -> Journey:
    """Return it; not `stopped`: all outputs that were compared are equal."""
    loops = (LoopRow(3, "for i", "parallel", "no carried dependence (proven)"),)
    origin = OriginStage(
        rows=(
            OriginRow("C loops", "a.c", "void f();\n", "port", loops, ("k1",), 3, "__global__ void k1() <b>"),
            OriginRow("CUDA kernel", "a.cu", "text\n", "by hand", (), ("k",), 1),
            OriginRow("C loops", "b.c", "text\n", "port", why="it has no loops"),
        ),
        inputs=("n=4", "x=iota:i32[n]"),
        seconds=1.25,
    )
    cells = tuple(f"<{name}>" for name in COLUMNS)
    found = FoundStage(
        figures=(FigureRow("port", "k1", cells, "none, proven for blocks of 64"),),
        findings=(FindingRow("port", "k1", "MEM001", "warning", "proven", 7, "uncoalesced load of x"),),
    )
    counted = CallCounts(3, 1200, 0.5, 40, 0)
    rewritten = RewriteStage(
        rows=(
            RewriteRow("port", "port --optimize", ("tile=f/i",), "", counted, counted, "equal", "2 candidates", "new"),
            RewriteRow("by hand", "analyze --fix", why="nothing to gain"),
        )
    )
    written = TargetStage(
        rows=(
            TargetRow("port", "k1", "ptx", "sm_80", 12, "ret;\n"),
            TargetRow("port", "k1", "mask", "", why="a.cu:4:2: the mask ISA has no shared memory"),
        )
    )
    rows = [
        MachineRow("port", "interpreter", "", "equal", 4),
        MachineRow("port", "mask machine", "mask", "not run", why="a.cu:4:2: the mask ISA has no shared memory"),
    ]
    if stopped:
        rows += [
            MachineRow("port", "PTX, read back", "ptx", "differs", 4, 2, 3, "x[1] is 2, not 3"),
            MachineRow("port", "GCN machine", "gcn", "stopped", why="the run was stopped: outside"),
        ]
    ran = MachineStage(reference="a.c, compiled and run natively", changed=4, rows=tuple(rows))
    simulated = WidthStage(
        rows=(
            WidthRow("port", "k1", 2, 3, 8, "", 1000, 0.75, 16),
            WidthRow("port", "k1", 2, 3, 8, "ipdom", 1100, 0.7),
            WidthRow("port", "k1", 2, 3, 8, "per-lane", why="stopped: it does not end"),
        )
    )
    streams = (
        StreamStage(problem="Brook+ has no such thing")
        if stopped
        else StreamStage(rows=(StreamRow("a.c", 6, "equal", 4),))
    )
    return Journey("a", origin, found, rewritten, written, ran, simulated, streams)
