"""An analysis as one HTML file: no requests, readable without JavaScript, which only filters the findings.

Each finding has its source lines, and where its lanes' addresses are known a picture: a column a lane, its height the
sector (the bank) that it touches.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape
from importlib import resources
from string import Template

from warpsmith import __version__
from warpsmith.analysis.rules.finding import Evidence
from warpsmith.base.findings import Note
from warpsmith.base.source import readable
from warpsmith.report.analysis import AnalysisReport, Reported
from warpsmith.report.analysis_numbers import COLUMNS, closing, kernel_rows
from warpsmith.report.legible import legible

__all__ = ["analysis_html"]

_AROUND = 2


def analysis_html(report: AnalysisReport) -> str:
    """Return the report as one HTML document."""
    page = Template(resources.files("warpsmith.report").joinpath("analysis.html").read_text("utf-8"))
    return page.substitute(
        inputs=_text(", ".join(report.inputs) or "nothing"),
        version=escape(__version__),
        summary=_text(closing(report)),
        diagnostics=_diagnostics(report),
        columns="".join(f'<th scope="col">{escape(name)}</th>' for name in COLUMNS),
        kernels="".join(_row(row.cells) for row in kernel_rows(report)),
        footnotes=_footnotes(report),
        findings="".join(map(_finding, report.findings)) or "<p>None.</p>",
        kept_back=_kept_back(report),
    ).rstrip()


def _text(words: str) -> str:
    return escape(legible(words))


def _row(cells: Iterable[str]) -> str:
    return "<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in cells) + "</tr>\n"


def _diagnostics(report: AnalysisReport) -> str:
    if not report.diagnostics:
        return ""
    rows = "".join(
        f'<li><span class="badge {f.severity}">{escape(f.severity)} {escape(f.rule)}</span> '
        f"{'' if f.span is None else f'<code>{_text(str(f.span))}</code> '}{_text(f.message)}"
        f"{''.join(f'<br><em>{_text(h)}</em>' for h in f.help)}</li>"
        for f in report.diagnostics
    )
    return f'<section aria-labelledby="unread"><h2 id="unread">Not read, or not as meant</h2><ul>{rows}</ul></section>'


def _footnotes(report: AnalysisReport) -> str:
    notes = []
    if any(kernel.resources.source == "estimate" for kernel in report.kernels):
        notes.append("* estimated from what is live at once; exact with ptxas.")
    assumed = dict.fromkeys(text for kernel in report.kernels for text in kernel.assumed)
    notes += [f"? assumed, since nothing says it: {_text(text)} (--block)." for text in assumed]
    return "<br>".join(notes)


# --- findings


def _finding(one: Reported) -> str:
    finding = one.finding
    place = "" if finding.span is None else f"<code>{_text(str(finding.span))}</code> "
    parts = [
        f'<article class="{one.severity}" data-severity="{one.severity}">',
        f'<h3><span class="badge {one.severity}">{one.severity} {escape(finding.rule)}</span> '
        f"{_text(finding.message)}</h3>",
        f'<p class="faint">{place}{f"kernel <code>{_text(one.kernel)}</code>" if one.kernel else ""}</p>',
    ]
    if finding.span is not None:
        parts.append(_excerpt(Note(finding.span, finding.label)))
    parts += [_excerpt(note) for note in finding.related]
    parts += [_picture(table) + _table(table) for table in finding.evidence]
    facts = [f"certainty: {_text(_certainty(one))}"]
    if finding.estimate is not None:
        facts.append(f"estimate: {_text(finding.estimate.text)}")
    if finding.why:
        steps = " &larr; ".join(
            _text(step.text) + ("" if step.span is None else f" <code>line {step.span.line}</code>")
            for step in finding.why
        )
        facts.append(f"because: {steps}")
    facts += [f"help: {_text(text)}" for text in finding.help]
    parts.append("<ul>" + "".join(f"<li>{fact}</li>" for fact in facts) + "</ul></article>\n")
    return "\n".join(parts)


def _certainty(one: Reported) -> str:
    conditions = "; and ".join(one.finding.assumptions)
    return f"{one.finding.certainty}, if {conditions}" if conditions else one.finding.certainty


def _excerpt(place: Note) -> str:
    span = place.span
    lines = []
    first, last = max(1, span.line - _AROUND), min(span.file.line_count, span.line + _AROUND)
    width = len(str(last))
    for number in range(first, last + 1):
        source = span.file.line(number)
        shown = escape(readable(source))
        if number == span.line:
            end = len(source) if span.end_line != span.line else span.end_column - 1
            before, marked, after = source[: span.column - 1], source[span.column - 1 : end], source[end:]
            label = f'   <span class="label">{_text(place.text)}</span>' if place.text else ""
            shown = f"{escape(readable(before))}<mark>{escape(readable(marked))}</mark>{escape(readable(after))}{label}"
        lines.append(f'<span class="number">{number:>{width}}</span>  {shown}'.rstrip())
    return "<pre>" + "\n".join(lines) + "</pre>"


def _table(table: Evidence) -> str:
    head = "".join(f'<th scope="col">{_text(name)}</th>' for name in table.columns)
    rows = "".join(_row(row) for row in table.rows)
    return (
        f'<details><summary>{_text(table.title)}</summary><div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>\n{rows}</tbody></table></div></details>"
    )


def _picture(table: Evidence) -> str:
    """Return lane → sector (bank) as bars in a row, "" where the table is of something else."""
    if table.columns[:2] != ("lane", "byte") or len(table.columns) < 3:
        return ""
    name = table.columns[2]
    numbers = [int(row[2]) for row in table.rows]
    low, high = min(numbers), max(numbers)
    most = max(1, min(high - low, 40))
    step, height = 14, math.ceil(_tall(high - low, high - low, most)) + 4
    bars = "".join(
        f'<rect x="{k * step}" y="{height - _tall(n - low, high - low, most):.0f}" width="{step - 3}" '
        f'height="{_tall(n - low, high - low, most):.0f}" fill="var(--lane)"><title>lane {k}: {name} {n}</title></rect>'
        for k, n in enumerate(numbers)
    )
    words = f"lanes 0 to {len(numbers) - 1}; the height is the {name}: {len(set(numbers))} different"
    return (
        f'<svg viewBox="0 0 {len(numbers) * step} {height + 16}" width="{len(numbers) * step}" role="img" '
        f'aria-label="{escape(words)}">{bars}<text x="0" y="{height + 13}">{escape(words)}</text></svg>'
    )


def _tall(number: int, span: int, most: int) -> float:
    """Return the height of a bar: 4 for the lowest, at most 80."""
    return 4 + 76 * number / max(1, span) if span > most else 4 + 76 * number / most


def _kept_back(report: AnalysisReport) -> str:
    if not report.kept_back:
        return ""
    rows = "".join(
        f"<li><strong>{escape(one.finding.rule)}</strong> {_text(one.finding.message)} "
        f'<span class="faint">({escape(one.hidden)}: {_text(one.reason or "no reason given")})</span></li>'
        for one in report.kept_back
    )
    return f'<section aria-labelledby="kept"><h2 id="kept">Kept back</h2><ul>{rows}</ul></section>'
