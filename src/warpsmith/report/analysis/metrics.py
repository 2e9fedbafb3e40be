"""The metric table: every number that is known of a kernel, a line each, with its ideal or limit beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warpsmith.analysis.uniformity.facts import Count
from warpsmith.report.analysis.model import AccessEntry, AnalysisReport, AnalyzedKernel
from warpsmith.report.analysis.predicted import predicted_rows
from warpsmith.report.legible import legible

__all__ = ["METRICS", "metric_rows"]

METRICS = ("kernel", "metric", "value", "best or limit", "where")


def metric_rows(report: AnalysisReport) -> Iterator[tuple[str, ...]]:
    """Yield the rows, kernel by kernel; they belong to METRICS."""
    for kernel in report.kernels:
        name = f"{kernel.name} ({kernel.device})"
        predicted = () if kernel.predicted is None else predicted_rows(kernel.predicted)
        for row in (*_resources(kernel), *_divergence(kernel), *_accesses(report, kernel), *predicted):
            yield (name, *row)
            name = ""


def _resources(kernel: AnalyzedKernel) -> Iterator[tuple[str, ...]]:
    held = kernel.resources
    yield "registers a thread", str(held.registers), "", held.source
    yield "shared memory a block", f"{held.shared_bytes + held.dynamic_shared_bytes:,} B", "", ""
    if held.local_bytes or held.spill_bytes:
        yield "local memory a thread", f"{held.local_bytes:,} B", "0 B", f"{held.spill_bytes:,} B spilled"
    found = held.occupancy
    if found is not None:
        share = f"{100 * found.warps / max(1, found.limit):.0f}%"
        yield "occupancy", f"{found.warps} warps, {share}", f"{found.limit} warps", f"limited by {found.limited_by}"


def _divergence(kernel: AnalyzedKernel) -> Iterator[tuple[str, ...]]:
    if kernel.branches:
        yield "divergent branches", str(kernel.divergent_branches), f"of {kernel.branches}", ""


def _accesses(report: AnalysisReport, kernel: AnalyzedKernel) -> Iterator[tuple[str, ...]]:
    mine = [access for access in report.accesses if (access.kernel, access.input) == (kernel.name, kernel.input)]
    for access in mine:
        where = ", ".join((f"{access.kind} {legible(access.variable) or 'memory'}", *_line(access)))
        if access.space in ("shared", "constant"):
            name = "bank ways" if access.space == "shared" else "words a request"
            yield name, _number(access.bank_ways), "1", where
        elif access.space in ("global", "generic", "local"):
            sectors = access.sectors_aligned or access.sectors
            yield "sectors a request", _number(sectors), str(access.ideal_sectors), where


def _line(access: AccessEntry) -> Sequence[str]:
    return (f"line {access.span.line}",) if access.span is not None else ()


def _number(count: Count | None) -> str:
    return "?" if count is None else str(count)
