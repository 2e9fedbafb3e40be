"""An analysis as one HTML file: no requests, readable without JavaScript, which only filters the findings.

What costs most comes first, each cause once. A finding has its source lines, and where it is known which sectors or
banks its lanes touch, a picture; then every kernel line by line, its control flow, and what its branches depend on.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from importlib import resources
from string import Template

from warpsmith import __version__
from warpsmith.analysis.rules.finding import Evidence
from warpsmith.base.findings import Note, printable
from warpsmith.report.analysis.groups import Told, told_once
from warpsmith.report.analysis.html.kernels import kernel_sections, kernel_style
from warpsmith.report.analysis.model import AnalysisReport, Reported
from warpsmith.report.analysis.numbers import COLUMNS, closing, counted, footnotes, kernel_rows
from warpsmith.report.legible import legible
from warpsmith.report.pictures.lanes import lane_svg

__all__ = ["analysis_html"]

_AROUND = 2
_WIDE = 400


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
        findings="".join(map(_finding, told_once(report.findings))) or "<p>None.</p>",
        lines=kernel_sections(report),
        style=kernel_style(),
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
    return "<br>".join(map(_text, footnotes(report)))


# --- findings


def _finding(told: Told) -> str:
    one, finding = told.first, told.first.finding
    place = "" if finding.span is None else f"<code>{_text(str(finding.span))}</code> "
    parts = [
        f'<article class="{one.severity}" data-severity="{one.severity}">',
        f'<h3><span class="badge {one.severity}">{one.severity} {escape(finding.rule)}</span> '
        f"{_text(finding.message)}</h3>",
        f'<p class="faint">{place}{_kernels(told)}</p>',
    ]
    places = [Note(finding.span, finding.label)] if finding.span is not None else []
    lines = "".join(map(_excerpt, (*places, *finding.related)))
    small = one.severity == "note" and lines
    parts.append(f"<details><summary>source</summary>{lines}</details>" if small else lines)
    parts += [lane_svg(table) + _table(table) for table in finding.evidence]
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
    if told.others:
        facts.append(f"{counted(len(told.others), 'other place')} with the same cause: {_others(told)}")
    parts.append("<ul>" + "".join(f"<li>{fact}</li>" for fact in facts) + "</ul></article>\n")
    return "\n".join(parts)


def _kernels(told: Told) -> str:
    if not told.kernels:
        return ""
    word = "kernel" if len(told.kernels) == 1 else "kernels"
    return f"{word} <code>{_text(', '.join(told.kernels))}</code>"


def _others(told: Told) -> str:
    return _text("; ".join(lines if said == "the same" else f"{lines} ({said})" for said, lines in told.elsewhere()))


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
        shown = escape(printable(source[:_WIDE]))
        if number == span.line:
            start = span.column - 1
            end = len(source) if span.end_line != span.line else span.end_column - 1
            pieces = source[max(0, start - _WIDE) : start], source[start : min(end, start + _WIDE)]
            before, marked, after = (escape(printable(piece)) for piece in (*pieces, source[end : end + _WIDE]))
            label = f'   <span class="label">{_text(place.text)}</span>' if place.text else ""
            shown = f"{before}<mark>{marked}</mark>{after}{label}"
        lines.append(f'<span class="number">{number:>{width}}</span>  {shown}'.rstrip())
    return "<pre>" + "\n".join(lines) + "</pre>"


def _table(table: Evidence) -> str:
    head = "".join(f'<th scope="col">{_text(name)}</th>' for name in table.columns)
    rows = "".join(_row(row) for row in table.rows)
    return (
        f'<details><summary>{_text(table.title)}</summary><div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>\n{rows}</tbody></table></div></details>"
    )


def _kept_back(report: AnalysisReport) -> str:
    if not report.kept_back:
        return ""
    rows = "".join(
        f"<li><strong>{escape(one.finding.rule)}</strong> {_text(one.finding.message)} "
        f'<span class="faint">({escape(one.hidden)}: {_text(one.reason or "no reason given")})</span></li>'
        for one in report.kept_back
    )
    return f'<section aria-labelledby="kept"><h2 id="kept">Kept back</h2><ul>{rows}</ul></section>'
