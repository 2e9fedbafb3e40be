"""An analysis as annotations of a pull request: workflow commands, one a finding, that GitHub's runners read.

::warning file=src/k.cu,line=7,col=5,title=MEM001 uncoalesced-global-access::uncoalesced store to out: …
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.report.analysis.groups import group_findings
from warpsmith.report.analysis.model import AnalysisReport, Reported
from warpsmith.report.legible import legible
from warpsmith.report.rules import load_rules

__all__ = ["analysis_github"]

_WORDS = {"error": "error", "warning": "warning", "note": "notice"}


def analysis_github(report: AnalysisReport) -> str:
    """Return one command a line; what is the same in several instances of a template is reported once."""
    return "\n".join((*map(_diagnostic, report.diagnostics), *_findings(report)))


def _findings(report: AnalysisReport) -> Iterator[str]:
    for group in group_findings(report.findings):
        for one in (group.first, *group.others):
            yield _finding(one, group.kernels)


def _finding(one: Reported, kernels: tuple[str, ...]) -> str:
    finding = one.finding
    lines = [finding.message]
    lines += [f"kernel: {', '.join(kernels)}"] if kernels else []
    lines += [f"holds if {'; and '.join(finding.assumptions)}"] if finding.assumptions else []
    lines += [f"help: {text}" for text in finding.help]
    title = f"{finding.rule} {load_rules()[finding.rule].name}"
    return _command(_WORDS[one.severity], finding.span, title, "\n".join(lines))


def _diagnostic(finding: Finding) -> str:
    text = "\n".join((finding.message, *(f"help: {text}" for text in finding.help)))
    return _command(_WORDS[finding.severity], finding.span, finding.rule, text)


def _command(word: str, span: Span | None, title: str, text: str) -> str:
    place = []
    if span is not None:
        place = [f"file={_property(span.file.path)}", f"line={span.line}", f"col={span.column}"]
        place += [f"endLine={span.end_line}"]
        place += [f"endColumn={max(span.column, span.end_column - 1)}"] if span.end_line == span.line else []
    return f"::{word} {','.join([*place, f'title={_property(title)}'])}::{_data(text)}"


def _data(text: str) -> str:
    return legible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
