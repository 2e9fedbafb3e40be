"""An analysis as one HTML file: no requests, readable without JavaScript, which only filters the findings.

What costs most comes first, each cause once. A finding has its source lines, and where it is known which sectors or
banks its lanes touch, a picture; then every kernel line by line, its control flow, and what its branches depend on.
`analysis.html` is the page; here is what it says.
"""

from __future__ import annotations

from msgspec import Struct

from warpsmith.analysis.rules.finding import EvidenceTable
from warpsmith.base.findings import Note, printable
from warpsmith.poly.patterns.sample import SIZE
from warpsmith.report.accesses.html import access_section
from warpsmith.report.analysis.groups import FindingGroup, group_findings
from warpsmith.report.analysis.html.kernels import kernel_sections
from warpsmith.report.analysis.model import AnalysisReport, Reported
from warpsmith.report.analysis.numbers import COLUMNS, closing, count_noun, footnotes, kernel_rows
from warpsmith.report.pages.page import page
from warpsmith.report.pictures.lanes import LanePicture, lane_picture

__all__ = ["Card", "ExcerptLine", "analysis_html"]

_AROUND = 2
_WIDE = 400


class ExcerptLine(Struct, frozen=True):
    """A line of an excerpt: its number, right-aligned; its text, or what is before, in and after the marked part of it
    (None: nothing is marked), and what is said of that."""

    number: str
    before: str
    marked: str | None = None
    after: str = ""
    label: str = ""


class Card(Struct, frozen=True):
    """A finding as the page has it; `folded`: its excerpts are shown on demand; `others`: how many other places have
    the same cause, and which."""

    one: Reported
    kernels: tuple[str, ...]
    excerpts: tuple[tuple[ExcerptLine, ...], ...]
    folded: bool
    evidence: tuple[tuple[EvidenceTable, LanePicture | None], ...]
    certainty: str
    others: tuple[str, str] | None


def analysis_html(report: AnalysisReport) -> str:
    """Return the report as one HTML document."""
    return page(
        "analysis/html/analysis.html",
        report=report,
        inputs=", ".join(report.inputs) or "nothing",
        summary=closing(report),
        columns=COLUMNS,
        rows=[row.cells for row in kernel_rows(report)],
        footnotes=footnotes(report),
        cards=[_card(group) for group in group_findings(report.findings)],
        sections=kernel_sections(report),
        patterns=[
            (kernel, [access_section(one) for one in kernel.patterns]) for kernel in report.kernels if kernel.patterns
        ],
        size=SIZE,
    )


def _card(group: FindingGroup) -> Card:
    one, finding = group.first, group.first.finding
    places = [Note(finding.span, finding.label)] if finding.span is not None else []
    excerpts = tuple(_excerpt(place) for place in (*places, *finding.related))
    others = (count_noun(len(group.others), "other place"), _others(group)) if group.others else None
    return Card(
        one,
        tuple(group.kernels),
        excerpts,
        one.severity == "note" and bool(excerpts),
        tuple((table, lane_picture(table)) for table in finding.evidence),
        _certainty(one),
        others,
    )


def _others(group: FindingGroup) -> str:
    return "; ".join(lines if said == "the same" else f"{lines} ({said})" for said, lines in group.elsewhere())


def _certainty(one: Reported) -> str:
    conditions = "; and ".join(one.finding.assumptions)
    return f"{one.finding.certainty}, if {conditions}" if conditions else one.finding.certainty


def _excerpt(place: Note) -> tuple[ExcerptLine, ...]:
    span = place.span
    first, last = max(1, span.line - _AROUND), min(span.file.line_count, span.line + _AROUND)
    width = len(str(last))
    return tuple(_excerpt_line(place, number, f"{number:>{width}}") for number in range(first, last + 1))


def _excerpt_line(place: Note, number: int, shown: str) -> ExcerptLine:
    span = place.span
    source = span.file.line(number)
    if number != span.line:
        return ExcerptLine(shown, printable(source[:_WIDE]).rstrip())
    start = span.column - 1
    end = len(source) if span.end_line != span.line else span.end_column - 1
    pieces = source[max(0, start - _WIDE) : start], source[start : min(end, start + _WIDE)], source[end : end + _WIDE]
    before, marked, after = map(printable, pieces)
    return ExcerptLine(shown, before, marked, after if place.text else after.rstrip(), place.text)
