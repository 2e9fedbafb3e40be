"""A report of masks for tests."""

from __future__ import annotations

from warpsmith.base.findings import Finding
from warpsmith.report.masks.model import MaskReport, MaskStep
from warpsmith.report.simulation.model import OutputRow

__all__ = ["report_of"]


def report_of(count: int, *findings: Finding) -> MaskReport:
    """Return a report of a wave of four lanes that executed so many instructions."""
    steps = tuple(MaskStep(9 + n % 3, f"v_op{n}", 0b0101) for n in range(count))
    rows = (OutputRow("out", "u32", 9, 2, ("1", "2")),)
    return MaskReport("k.s", "gfx900", 4, 2, 2 * count, "block 0, wave 1", steps, count, rows, findings)
