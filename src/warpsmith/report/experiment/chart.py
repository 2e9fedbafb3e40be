"""An experiment as a chart in SVG: bars over the values of what is varied, one color for each input.

2.0 ┤    ▆▆     ▆▆      what a bar is high: cost where the width varies, else lane slots against the fewest; clocks
1.0 ┤ ▆▆ ▆▆  ▆▆ ▆▆      against the fewest, where there are clocks
    └──8──────16─────
"""

from __future__ import annotations

from math import ceil
from typing import Final

from msgspec import Struct

from warpsmith.report.experiment.model import ExperimentReport, ExperimentRun
from warpsmith.report.pages.page import page

__all__ = ["Chart", "ChartBar", "draw_chart", "experiment_svg"]

_LEFT, _TOP, _HIGH, _BAR, _GAP, _BOTTOM, _LETTER = 56, 48, 240, 26, 22, 34, 7
_COLORS: Final = 6


class ChartBar(Struct, frozen=True):
    """A bar with the number above it; `kind` is its color, `words` what it says."""

    x: int
    y: float
    high: float
    kind: int
    number: str
    words: str


class Chart(Struct, frozen=True):
    """Bars over labels, in pixels; `ticks`: heights of lines with their numbers, `legend`: the inputs with their place
    and color, none where there is one."""

    title: str
    wide: int
    high: int
    bar: int
    base: int
    bars: tuple[ChartBar, ...]
    labels: tuple[tuple[float, str], ...]
    ticks: tuple[tuple[float, str], ...]
    legend: tuple[tuple[int, int, str], ...]


def experiment_svg(report: ExperimentReport) -> str:
    """Return the chart as a file of its own."""
    return page("experiment/chart.svg", chart=draw_chart(report))


def draw_chart(report: ExperimentReport) -> Chart:
    """Return where everything stands."""
    by_cost = report.varied == "width" and not report.timed
    series = report.series if report.varied != "input" else ("",)
    heights = {
        (p.value, p.input if len(series) > 1 else ""): _height(p, report, by_cost=by_cost) for p in report.points
    }
    most = max((height for height in heights.values() if height is not None), default=1.0)
    top = _round_up(most)
    group = max(_BAR * len(series) + _GAP, _LETTER * max(map(len, report.values), default=0) + _GAP // 2)
    bars: list[ChartBar] = []
    for number, value in enumerate(report.values):
        for kind, name in enumerate(series):
            height = heights.get((value, name))
            if height is None:
                continue
            high = round(height / top * _HIGH, 1)
            x = _LEFT + number * group + (group - _BAR * len(series)) // 2 + kind * _BAR
            words = f"{value}{f', {name}' if name else ''}: {height:.3f}"
            bars.append(ChartBar(x, round(_TOP + _HIGH - high, 1), high, kind % _COLORS, f"{height:.2f}", words))
    labels = tuple((_LEFT + number * group + group / 2, value) for number, value in enumerate(report.values))
    ticks = tuple((_TOP + _HIGH - _HIGH * step / 4, f"{top * step / 4:g}") for step in range(5))
    compared = "clocks" if report.timed else "lane slots"
    what = "lane slots for each instruction of a lane" if by_cost else f"{compared} against the fewest"
    legend = (
        tuple((_LEFT + 130 * kind, kind % _COLORS, name) for kind, name in enumerate(series)) if len(series) > 1 else ()
    )
    wide = max(_LEFT + len(report.values) * group + _GAP, _LEFT + 130 * len(legend), 420)
    title = f"{report.kernel} by {report.varied}: {what}"
    high = _TOP + _HIGH + _BOTTOM + (30 if legend else 0)
    return Chart(title, wide, high, _BAR - 3, _TOP + _HIGH, tuple(bars), labels, ticks, legend)


def _height(point: ExperimentRun, report: ExperimentReport, *, by_cost: bool) -> float | None:
    if point.stopped:
        return None
    return point.cost if by_cost else point.work / report.least if report.least else 0.0


def _round_up(most: float) -> float:
    """Return a number from `most` on whose quarters are short."""
    return ceil(most) if most <= 4 else float(ceil(most / 4) * 4)
