"""A run of a kernel as one HTML file: which lanes were active in each step, what every line cost, what went wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from warpsmith.base.findings import printable
from warpsmith.base.source import SourceFile, Span
from warpsmith.report.pages.page import page
from warpsmith.report.simulation.masks import mask_picture
from warpsmith.report.simulation.model import MemoryRow, SimulationReport
from warpsmith.report.simulation.text import checks_line, head_line, outputs_lines, work_line
from warpsmith.report.words import NVIDIA, Speech

__all__ = ["Cell", "FileTable", "simulation_html", "simulation_svg"]

_HEAD: Final = (
    "line", "visits", "diverged", "sectors a request", "bank conflicts", "source",
)  # fmt: skip


class Cell(Struct, frozen=True):
    """A number that is known of a line, and how dark it is shown: 0 to 4."""

    text: str
    step: int


class FileTable(Struct, frozen=True):
    """The lines of a file that the run was in: their numbers, cells, and sources."""

    path: str
    rows: tuple[tuple[int, tuple[Cell, ...], str], ...]


def simulation_html(report: SimulationReport, words: Speech = NVIDIA) -> str:
    """Return the report as one HTML document."""
    return page(
        "simulation/simulation.html",
        report=report,
        head=head_line(report, words),
        work=work_line(report, words),
        checks=checks_line(report),
        columns=[*_HEAD[:3], f"lost {words.one('lane')} slots", *_HEAD[3:]],
        words=words,
        tables=tuple(_tables(report)),
        pictures=[mask_picture(group, report.warp_width, words) for group in report.timeline],
        outputs=outputs_lines(report),
    )


def simulation_svg(report: SimulationReport, words: Speech = NVIDIA) -> str:
    """Return the picture of the warps that do most alike as a file of its own."""
    first = max(report.timeline, key=lambda group: sum(len(column.warps) for column in group.columns))
    return page("simulation/alone.svg", picture=mask_picture(first, report.warp_width, words))


# --- lines


def _tables(report: SimulationReport) -> Iterator[FileTable]:
    """Yield a table for each file that the run was in."""
    spans = [row.span for row in report.branches] + [row.span for row in report.memory]
    files: dict[str, SourceFile] = {span.file.path: span.file for span in spans if span is not None}
    for path, file in files.items():
        numbers = [span.line for span in spans if span is not None and span.file.path == path]
        shown = range(max(1, min(numbers) - 1), min(file.line_count, max(numbers) + 1) + 1)
        yield FileTable(path, tuple(_line(report, file, number) for number in shown))


def _at(span: Span | None, file: SourceFile, number: int) -> bool:
    return span is not None and span.file.path == file.path and span.line == number


def _line(report: SimulationReport, file: SourceFile, number: int) -> tuple[int, tuple[Cell, ...], str]:
    branches = [row for row in report.branches if _at(row.span, file, number)]
    memory = [row for row in report.memory if _at(row.span, file, number)]
    most = max((row.lost_lane_slots for row in report.branches), default=0)
    visits, diverged = sum(b.visits for b in branches), sum(b.divergences for b in branches)
    lost = sum(b.lost_lane_slots for b in branches)
    cells = (
        _cell(f"{visits:,}" if branches else "", 0),
        _cell(f"{diverged:,}" if branches else "", diverged / max(1, visits) * 4),
        _cell(f"{lost:,}" if branches else "", 4 * lost / most if most else 0),
        *_memory(memory),
    )
    return number, cells, printable(file.line(number))[:240].rstrip()


def _memory(memory: Sequence[MemoryRow]) -> Iterator[Cell]:
    """Yield the cells about the accesses of a line: sectors of the dearest one, conflicts of all."""
    moved = [m for m in memory if m.space in ("global", "local") and m.requests]
    worst = max(moved, key=lambda m: m.sectors / max(1, m.ideal), default=None)
    if worst is None:
        yield _cell("", 0)
    else:
        text = f"{worst.sectors / worst.requests:.1f}, ideal {worst.ideal / worst.requests:.1f}"
        yield _cell(text, _step(worst.sectors / max(1, worst.ideal)))
    conflicts = sum(m.bank_conflicts for m in memory)
    requests = sum(m.requests for m in memory if m.space == "shared")
    yield _cell(f"{conflicts:,}" if requests else "", _step(1 + conflicts / max(1, requests)) if conflicts else 0)


def _step(factor: float) -> int:
    return 4 if factor >= 8 else 3 if factor >= 4 else 2 if factor >= 2 else 1 if factor >= 1.2 else 0


def _cell(text: str, heat: float) -> Cell:
    return Cell(text, min(4, round(heat + 0.3)))
