"""A run of a kernel as one HTML file: which lanes were active in each step, what every line cost, what went wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from importlib import resources
from string import Template
from typing import Final

from warpsmith import __version__
from warpsmith.base.findings import printable
from warpsmith.base.source import SourceFile, Span
from warpsmith.report.legible import legible
from warpsmith.report.simulation.masks import MASK_STYLE, mask_svg, shown_of
from warpsmith.report.simulation.model import MemoryRow, SimulationReport
from warpsmith.report.simulation.text import checks_line, head_line, outputs_lines, work_line

__all__ = ["simulation_html", "simulation_svg"]

_HEAD: Final = (
    "line", "visits", "parted", "lost lane slots", "sectors a request", "bank conflicts", "source",
)  # fmt: skip


def simulation_html(report: SimulationReport) -> str:
    """Return the report as one HTML document."""
    folder = resources.files("warpsmith.report")
    page = Template(folder.joinpath("simulation.html").read_text("utf-8"))
    return page.substitute(
        kernel=_text(report.kernel),
        style=folder.joinpath("page.css").read_text("utf-8") + MASK_STYLE,
        head=_text(head_line(report)),
        work=_text(work_line(report)),
        checks=_text(checks_line(report)),
        lines="".join(_lines(report)),
        timeline="".join(
            f'<div class="wide">{mask_svg(group, report.warp_width)}</div><p class="faint">{shown_of(group)}</p>'
            for group in report.timeline
        ),
        mistakes=_mistakes(report),
        outputs="".join(f"<li><code>{_text(line)}</code></li>" for line in outputs_lines(report)),
        version=escape(__version__),
    ).rstrip()


def simulation_svg(report: SimulationReport) -> str:
    """Return the picture of the warps that do most alike as a file of its own."""
    first = max(report.timeline, key=lambda group: sum(len(column.warps) for column in group.columns))
    return mask_svg(first, report.warp_width, alone=True)


def _text(words: str) -> str:
    return escape(legible(words))


# --- lines


def _lines(report: SimulationReport) -> Iterator[str]:
    """Yield a table for each file that the run was in."""
    spans = [row.span for row in report.branches] + [row.span for row in report.memory]
    files: dict[str, SourceFile] = {span.file.path: span.file for span in spans if span is not None}
    head = "".join(f'<th scope="col">{name}</th>' for name in _HEAD)
    for path, file in files.items():
        numbers = [span.line for span in spans if span is not None and span.file.path == path]
        shown = range(max(1, min(numbers) - 1), min(file.line_count, max(numbers) + 1) + 1)
        body = "".join(_line(report, file, number) for number in shown)
        yield (
            f'<p class="faint">{_text(path)}</p><div class="wide"><table class="heatmap"><thead><tr>{head}</tr></thead>'
            f"<tbody>\n{body}</tbody></table></div>"
        )


def _at(span: Span | None, file: SourceFile, number: int) -> bool:
    return span is not None and span.file.path == file.path and span.line == number


def _line(report: SimulationReport, file: SourceFile, number: int) -> str:
    branches = [row for row in report.branches if _at(row.span, file, number)]
    memory = [row for row in report.memory if _at(row.span, file, number)]
    most = max((row.lost_lane_slots for row in report.branches), default=0)
    visits, parted = sum(b.visits for b in branches), sum(b.divergences for b in branches)
    lost = sum(b.lost_lane_slots for b in branches)
    cells = [
        _cell(f"{visits:,}" if branches else "", 0),
        _cell(f"{parted:,}" if branches else "", parted / max(1, visits) * 4),
        _cell(f"{lost:,}" if branches else "", 4 * lost / most if most else 0),
        *_memory(memory),
    ]
    source = escape(printable(file.line(number))[:240].rstrip())
    return f'<tr><td class="n number">{number}</td>{"".join(cells)}<td class="code">{source}</td></tr>\n'


def _memory(memory: Sequence[MemoryRow]) -> Iterator[str]:
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


def _cell(text: str, heat: float) -> str:
    step = min(4, round(heat + 0.3))
    return f'<td class="heat n{f" h{step}" if step else ""}">{escape(text)}</td>'


# --- mistakes


def _mistakes(report: SimulationReport) -> str:
    if not report.mistakes:
        return ""
    rows = "".join(
        f'<li><span class="badge error">{escape(one.finding.rule)}</span> '
        f"{'' if one.finding.span is None else f'<code>{_text(str(one.finding.span))}</code> '}"
        f"{_text(one.finding.message)}{f' ({one.times:,} times)' if one.times > 1 else ''}</li>"
        for one in report.mistakes
    )
    return f'<section aria-labelledby="wrong"><h2 id="wrong">What went wrong</h2><ul>{rows}</ul></section>'
