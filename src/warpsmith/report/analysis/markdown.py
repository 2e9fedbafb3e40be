"""An analysis as Markdown: a summary for a merge request or a job's page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from warpsmith.report.analysis.groups import FindingGroup, group_findings
from warpsmith.report.analysis.model import AnalysisReport
from warpsmith.report.analysis.numbers import COLUMNS, closing, footnotes, kernel_rows
from warpsmith.report.legible import legible

__all__ = ["analysis_markdown"]


def analysis_markdown(report: AnalysisReport) -> str:
    """Return the findings as a list, what costs most first, and the kernels as a table."""
    parts = [f"## {_plain(closing(report))}"]
    if report.diagnostics:
        parts.append(
            "\n".join(f"- **{one.severity}** `{one.rule}` {_plain(one.message)}" for one in report.diagnostics)
        )
    if report.findings:
        parts.append("\n".join(map(_finding, group_findings(report.findings))))
    if report.kernels:
        parts.append("\n".join(_table(report)))
    return "\n\n".join(parts)


def _finding(group: FindingGroup) -> str:
    one, finding = group.first, group.first.finding
    place = one.input if finding.span is None else f"{finding.span.file.path}:{finding.span.line}"
    lines = [f"- **{one.severity}** `{finding.rule}` {_code(place)} {_plain(finding.message)}"]
    lines[0] += f" (kernel {', '.join(map(_code, group.kernels))})" if group.kernels else ""
    if finding.assumptions:
        lines.append(f"  - if {_plain('; and '.join(finding.assumptions))}")
    lines += [f"  - {_plain(text)}" for text in finding.help]
    lines += [f"  - also: {_plain(f'{said}, {places}')}" for said, places in group.elsewhere()]
    return "\n".join(lines)


def _table(report: AnalysisReport) -> Iterator[str]:
    yield _cells(COLUMNS)
    yield _cells(["---"] * len(COLUMNS))
    for row in kernel_rows(report):
        yield _cells([_code(row.cells[0]), *map(_plain, row.cells[1:])])
    yield from (f"\n{_plain(text)}" for text in footnotes(report))


def _cells(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _code(text: str) -> str:
    return f"`{legible(text).replace('`', chr(39))}`"


def _plain(text: str) -> str:
    """Return a sentence in which nothing is taken for Markdown or HTML."""
    return re.sub(r"([\\*_<>\[\]])", r"\\\1", legible(text))
