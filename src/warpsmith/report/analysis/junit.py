"""An analysis as JUnit XML: a suite for each file, a case for each kernel, a failure for each finding at the gate.

Findings below the gate are the output of their case, so that nothing is lost and nothing fails that does not fail the
command.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as Xml

from warpsmith.base.findings import Finding, Severity
from warpsmith.report.analysis.model import SEVERITIES, AnalysisReport, Reported
from warpsmith.report.legible import legible

__all__ = ["analysis_junit"]


def analysis_junit(report: AnalysisReport, gate: Severity | None) -> str:
    """Return the report as XML; `gate`: the mildest severity that is a failure (None: there is none)."""
    seconds = sum(report.timing_s.values())
    root = Xml.Element("testsuites", name="warpsmith analyze", time=f"{seconds:.3f}")
    for path in report.inputs:
        _suite(root, report, path, gate)
    lost = [one for one in report.diagnostics if one.severity == "error"]
    if lost:
        suite = Xml.SubElement(root, "testsuite", name="what could not be read")
        case = _case(suite, "warpsmith", "diagnostics")
        for finding in lost:
            Xml.SubElement(case, "error", message=_clean(_text(finding)), type=finding.rule)
    for suite in root:
        _set_counts(suite)
    _set_counts(root)
    Xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, encoding="unicode")


def _suite(root: Xml.Element, report: AnalysisReport, path: str, gate: Severity | None) -> None:
    suite = Xml.SubElement(root, "testsuite", name=_clean(path))
    names = dict.fromkeys(kernel.name for kernel in report.kernels if kernel.input == path)
    mine = [one for one in report.findings if one.input == path]
    for name in (*names, *dict.fromkeys(one.kernel for one in mine if one.kernel not in names)):
        case = _case(suite, path, name or "comments")
        _findings(case, [one for one in mine if one.kernel == name], gate)


def _case(suite: Xml.Element, path: str, name: str) -> Xml.Element:
    return Xml.SubElement(suite, "testcase", classname=_clean(path), name=_clean(name), file=_clean(path))


def _findings(case: Xml.Element, found: Sequence[Reported], gate: Severity | None) -> None:
    below = []
    for one in found:
        place = one.input if one.finding.span is None else str(one.finding.span)
        text = f"{place}: {one.severity}[{one.finding.rule}] {one.finding.message}"
        if gate is not None and SEVERITIES.index(one.severity) >= SEVERITIES.index(gate):
            failure = Xml.SubElement(case, "failure", message=_clean(text), type=one.finding.rule)
            failure.text = _clean("\n".join((text, *(f"help: {help}" for help in one.finding.help))))
        else:
            below.append(text)
    if below:
        Xml.SubElement(case, "system-out").text = _clean("\n".join(below))


def _text(finding: Finding) -> str:
    return finding.message if finding.span is None else f"{finding.span}: {finding.message}"


def _set_counts(element: Xml.Element) -> None:
    for key, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
        element.set(key, str(sum(1 for _ in element.iter(tag))))


def _clean(text: str) -> str:
    """Return a text without what XML has no letters for."""
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "�" for letter in legible(text))
