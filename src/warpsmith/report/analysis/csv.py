"""An analysis as CSV (RFC 4180): a row for each finding, for a spreadsheet."""

from __future__ import annotations

import csv
import io
from typing import Final

from warpsmith.report.analysis.model import AnalysisReport, Reported
from warpsmith.report.legible import legible
from warpsmith.report.rules import load_rules

__all__ = ["analysis_csv"]

_COLUMNS: Final = (
    "file", "line", "column", "rule", "name", "severity", "certainty", "kernel", "message", "impact", "assumptions",
    "help", "fingerprint",
)  # fmt: skip


def analysis_csv(report: AnalysisReport) -> str:
    """Return the findings as rows below a head."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows(map(_row, report.findings))
    return text.getvalue().rstrip("\n")


def _row(one: Reported) -> list[str]:
    finding = one.finding
    place = (one.input, "", "") if finding.span is None else (
        finding.span.file.path, str(finding.span.line), str(finding.span.column)
    )  # fmt: skip
    cells = (
        *place, finding.rule, load_rules()[finding.rule].name, one.severity, finding.certainty, one.kernel,
        finding.message, f"{finding.impact:g}", "; ".join(finding.assumptions), "; ".join(finding.help),
        one.fingerprint,
    )  # fmt: skip
    return [_inert(legible(cell)) for cell in cells]


def _inert(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell
