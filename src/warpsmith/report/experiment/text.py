"""An experiment as text: a row for each run.

width  input   warp instructions  lane slots  cost  relative  lost lane slots  line  visits  lanes
8      random  9,792              78,336      1.74  1.55      33,312           7     1,632   7,488
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.base.source import readable
from warpsmith.report.analysis.text import columns
from warpsmith.report.experiment.model import ExperimentReport, ExperimentRun

__all__ = ["experiment_text"]


def experiment_text(report: ExperimentReport) -> str:
    """Return the table, with what its columns are."""
    if not report.points:
        return ""
    several = len(report.series) > 1 and report.varied != "input"
    counts: tuple[str, ...]
    counts = ("warp instructions", "lane slots", "cost", "relative", "lost lane slots", "hot line", "visits", "lanes")
    if report.timed:
        counts = ("clocks", "relative", "instructions", "lane slots", "cost", "lost lane slots")
    head = (report.varied, *(("input",) if several else ()), *counts)
    rows = [head, *(_row(point, report, several=several) for point in report.points)]
    return "\n".join((f"{readable(report.kernel)}, by {report.varied}", "", *columns(rows), "", *_legend(report)))


def _row(point: ExperimentRun, report: ExperimentReport, *, several: bool) -> tuple[str, ...]:
    named = (point.value, *((point.input,) if several else ()))
    if point.stopped:
        return (*named, point.stopped, *("" for _ in range(5 if report.timed else 7)))
    relative = f"{point.work / report.least:.3f}" if report.least else "-"
    if report.timed:
        slots = (f"{point.issued_slots:,}", f"{point.cost:.2f}", f"{point.lost_lane_slots:,}")
        return (*named, f"{point.clocks:,}", relative, f"{point.warp_instructions:,}", *slots)
    line = "-" if point.hot is None else str(point.hot.line)
    numbers = (f"{point.warp_instructions:,}", f"{point.issued_slots:,}", f"{point.cost:.2f}", relative)
    return (*named, *numbers, f"{point.lost_lane_slots:,}", line, f"{point.hot_visits:,}", f"{point.hot_lanes:,}")


def _legend(report: ExperimentReport) -> Iterator[str]:
    yield "cost      lane slots issued for each instruction of a lane: 1 where no lane waits"
    yield f"relative  {'clocks' if report.timed else 'lane slots'} against the fewest of the table"
    if any(point.hot is not None for point in report.points):
        yield "hot line  the block that takes most instructions of warps: how often one came, lanes that were there"
