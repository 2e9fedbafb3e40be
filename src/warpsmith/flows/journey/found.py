"""What `analyze` says of the kernels of a subject: figures, races, findings, those that matter most first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from warpsmith.flows.explain import ExplainOptions, explain
from warpsmith.flows.journey.origin import Begun
from warpsmith.flows.journey.versions import KernelCall, Version
from warpsmith.kernels.shape import Launching
from warpsmith.report.analysis.model import AnalysisReport
from warpsmith.report.analysis.numbers import kernel_rows, sort_findings
from warpsmith.report.analysis.races import race_line
from warpsmith.report.journey.model import FigureRow, FindingRow, FoundStage
from warpsmith.settings.model import Settings

__all__ = ["explain_options", "find"]

_WHOLE: Final = re.compile(r"-?\d+")


def find(begun: Begun, settings: Settings) -> FoundStage:
    """Return what is said of every version."""
    figures: list[FigureRow] = []
    findings: list[FindingRow] = []
    for version in begun.versions:
        report = sort_findings(explain([version.file], explain_options(version, settings)), "impact")
        figures += _figures(version, report)
        findings += _findings(version, report)
    return FoundStage(figures=tuple(figures), findings=tuple(findings))


def explain_options(version: Version, settings: Settings) -> ExplainOptions:
    """Return what is asked of a version: its kernels, with the numbers that are the same in all launches, and launched
    as it is where there is one launch."""
    numbers = _common_numbers(version.calls)
    one = version.calls[0].launch if len(version.calls) == 1 else None
    said = Launching(arguments=numbers)
    said = said if one is None else replace(said, block=one.block, grid=one.grid, shared_bytes=one.shared)
    return ExplainOptions(settings, said, tuple(version.names.values()))


def _common_numbers(calls: Sequence[KernelCall]) -> dict[str, int]:
    found: dict[str, set[str]] = {}
    for call in calls:
        for name, _, value in (one.partition("=") for one in call.texts):
            found.setdefault(name, set()).add(value)
    common = {name: values.pop() for name, values in found.items() if len(values) == 1}
    return {name: int(value) for name, value in common.items() if _WHOLE.fullmatch(value)}


def _figures(version: Version, report: AnalysisReport) -> Iterator[FigureRow]:
    for row in kernel_rows(report):
        yield FigureRow(version.name, row.kernel.name, row.cells, race_line(report, row.kernel).text)


def _findings(version: Version, report: AnalysisReport) -> Iterator[FindingRow]:
    for one in report.findings:
        found, line = one.finding, one.finding.span.line if one.finding.span is not None else 0
        yield FindingRow(version.name, one.kernel, found.rule, one.severity, found.certainty, line, found.message)
