"""A kernel of three lines on two machines, one of which refuses it."""

from __future__ import annotations

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.report.lowering.model import Lowering, TargetColumn
from warpsmith.ssa.nodes import Function
from warpsmith.targets.llvm.listing import Listed, Listing

__all__ = ["FILE", "GCN", "REFUSED", "sample"]

FILE = SourceFile("k<b>.cu", "kernel k\n{\n    a < b;\n}\n")
GCN = TargetColumn(
    "gcn",
    "gfx900",
    Listing(
        (Listed("k:"), Listed("        v_cmp_lt_u32 vcc, v0, v1", FILE, 3), Listed("        s_endpgm", FILE, 4)), ";"
    ),
)
REFUSED = TargetColumn(
    "mask", "", None, Finding("MSK007", "error", "no shared memory", Span(FILE, 15, 20), ("use none",))
)


def sample(*columns: TargetColumn) -> Lowering:
    """Return the kernel for targets."""
    kernel = Function("k", True, (), (), (), span=Span(FILE, 0, 8))
    return Lowering(FILE, kernel, columns)
