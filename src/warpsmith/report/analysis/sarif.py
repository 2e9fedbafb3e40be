"""An analysis as SARIF 2.1.0 (OASIS): one run, one result a cause, with its other places as related locations.

Code hosts show 5,000 results of a run: the most severe ones, with the most impact, come first, and what is cut off is
said. Suppressed findings and those of the baseline are results with `suppressions`. Paths are relative to the folder
where the program runs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

from warpsmith import __version__
from warpsmith.base.findings import Finding
from warpsmith.base.fixes import Fix
from warpsmith.base.source import Span, readable
from warpsmith.report.analysis.groups import FindingGroup, group_findings
from warpsmith.report.analysis.model import AnalysisReport, Reported
from warpsmith.report.json_parts import Json
from warpsmith.report.legible import legible
from warpsmith.report.rules import Rule, load_rules

__all__ = ["analysis_sarif"]

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
MOST: Final = 5000
_ORDER: Final = ("error", "warning", "note")
_FAMILIES: Final = {
    "DIV": "divergence: lanes of a warp that go different ways",
    "MEM": "memory: what accesses move, and where they lead",
    "SYN": "synchronization: barriers, races, exchanges between lanes",
    "OCC": "launch and occupancy",
    "ARI": "arithmetic",
    "SUP": "comments that silence findings",
    "BAS": "baselines",
}


def analysis_sarif(report: AnalysisReport) -> str:
    """Return the report as one SARIF log."""
    groups = [*group_findings(report.findings), *(FindingGroup(one, (), ()) for one in report.kept_back)]
    everything = sorted(groups, key=_first)
    kept = everything[:MOST]
    used = sorted({group.first.finding.rule for group in kept} | {finding.rule for finding in report.diagnostics})
    place = {code: number for number, code in enumerate(used)}
    notes = [_notification(finding) for finding in report.diagnostics]
    if len(everything) > MOST:
        text = f"{len(everything) - MOST} findings of {len(everything)} are not listed: a run shows {MOST}"
        notes.append({"level": "warning", "message": {"text": text}})
    run: Json = {
        "tool": {
            "driver": {
                "name": "warpsmith",
                "version": __version__,
                "rules": [_describe_rule(code) for code in used],
            }
        },
        "taxonomies": _taxonomies(used),
        "columnKind": "utf16CodeUnits",
        "originalUriBaseIds": {"ROOT": {"uri": Path.cwd().as_uri().rstrip("/") + "/"}},
        "invocations": [
            {
                "executionSuccessful": report.status != "error",
                "exitCode": report.exit_code,
                "toolExecutionNotifications": notes,
            }
        ],
        "results": [_result(group, place) for group in kept],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1, ensure_ascii=False)


def _first(group: FindingGroup) -> tuple[int, float]:
    return _ORDER.index(group.first.severity), -group.first.finding.impact


def _describe_rule(code: str) -> Json:
    rule = load_rules()[code]
    word = rule.severity.split()[0]
    entry: Json = {
        "id": code,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": rule.what},
        "fullDescription": {"text": rule.why},
        "help": {"text": rule.instead, "markdown": _markdown(rule)},
        "defaultConfiguration": {"level": word if word in _ORDER else "note"},
        "properties": {"tags": [rule.family.lower()]},
    }
    kinds = [(rule.family, "warpsmith", "relevant")] + ([(str(rule.cwe), "CWE", "superset")] if rule.cwe else [])
    entry["relationships"] = [
        {"target": {"id": id, "toolComponent": {"name": name}}, "kinds": [kind]} for id, name, kind in kinds
    ]
    return entry


_CWE: Final = "https://cwe.mitre.org"


def _taxonomies(used: Sequence[str]) -> list[Json]:
    """Return the families of the rules that are used, and the weaknesses of MITRE's list that they are cases of."""
    rules = [load_rules()[code] for code in used]
    families = sorted({rule.family for rule in rules})
    own = [
        {"id": family, "shortDescription": {"text": _FAMILIES.get(family, "inputs and settings")}}
        for family in families
    ]
    found: list[Json] = (
        [{"name": "warpsmith", "shortDescription": {"text": "Families of rules"}, "taxa": own}] if own else []
    )
    weak = sorted({rule.cwe for rule in rules if rule.cwe})
    if weak:
        taxa = [{"id": str(number), "helpUri": f"{_CWE}/data/definitions/{number}.html"} for number in weak]
        found.append({"name": "CWE", "organization": "MITRE", "informationUri": f"{_CWE}/", "taxa": taxa})
    return found


def _markdown(rule: Rule) -> str:
    parts = [rule.what, rule.why]
    if rule.example:
        parts.append(f"```cuda\n{rule.example.strip()}\n```")
    parts.append(f"**Do instead:** {rule.instead}")
    if rule.good:
        parts.append(f"```cuda\n{rule.good.strip()}\n```")
    if rule.wrong:
        parts.append(f"**When it is wrong:** {rule.wrong}")
    return "\n\n".join(parts)


def _notification(finding: Finding) -> Json:
    text = legible("\n".join((finding.message, *finding.help)))
    entry: Json = {"level": finding.severity, "message": {"text": text}, "descriptor": {"id": finding.rule}}
    if finding.span is not None:
        entry["locations"] = [{"physicalLocation": _location(finding.span)}]
    return entry


def _result(group: FindingGroup, place: Mapping[str, int]) -> Json:
    one = group.first
    finding = one.finding
    entry: Json = {
        "ruleId": finding.rule,
        "ruleIndex": place[finding.rule],
        "level": one.severity,
        "message": {"text": legible(_text(one))},
        "properties": {
            "certainty": finding.certainty,
            "kernel": one.kernel,
            "devices": list(one.devices),
            "impact": round(finding.impact, 3),
        },
    }
    if finding.span is not None:
        location: Json = {"physicalLocation": _location(finding.span)}
        if one.kernel:
            kernels = group.kernels or (one.kernel,)
            location["logicalLocations"] = [{"fullyQualifiedName": name, "kind": "function"} for name in kernels]
        entry["locations"] = [location]
    if one.fingerprint:
        entry["partialFingerprints"] = {"warpsmith/v1": one.fingerprint}
    related = [
        {"id": number, "physicalLocation": _location(span), "message": {"text": legible(text)}}
        for number, (span, text) in enumerate(_list_related(group))
    ]
    if related:
        entry["relatedLocations"] = related[:100]
    if one.fix is not None:
        entry["fixes"] = [_fix(one.fix)]
    if one.hidden:
        kind = "inSource" if one.hidden == "suppressed" else "external"
        entry["suppressions"] = [{"kind": kind, "justification": legible(one.reason)}]
    return entry


def _fix(fix: Fix) -> Json:
    """Return the edits of a fix, all of which are in one file; one that may change results says so."""
    word = legible(fix.title) + ("" if fix.safe else " (may change results)")
    replacements = [
        {"deletedRegion": _region(edit.span), "insertedContent": {"text": readable(edit.text)}} for edit in fix.edits
    ]
    change = {"artifactLocation": _location(fix.edits[0].span)["artifactLocation"], "replacements": replacements}
    return {"description": {"text": word}, "artifactChanges": [change]}


def _text(one: Reported) -> str:
    finding = one.finding
    lines = [finding.message]
    if finding.assumptions:
        lines.append(f"Holds if {'; and '.join(finding.assumptions)}.")
    if finding.estimate is not None:
        lines.append(f"Estimate: {finding.estimate.text}.")
    lines += [f"Help: {text}" for text in finding.help]
    return "\n".join(lines)


def _list_related(group: FindingGroup) -> list[tuple[Span, str]]:
    """Return the places that a finding speaks of, and those at which it holds as well."""
    finding = group.first.finding
    found = [(note.span, note.text) for note in finding.related]
    found += [(step.span, step.text) for step in finding.why if step.span is not None]
    others = (other.finding for other in group.others)
    return found + [(other.span, f"also: {other.message}") for other in others if other.span is not None]


def _location(span: Span) -> Json:
    path = Path(span.file.path)
    here = path.resolve()
    inside = here.is_relative_to(Path.cwd())
    uri = quote(os.fsencode(here.relative_to(Path.cwd()).as_posix())) if inside else here.as_uri()
    place: Json = {"uri": uri, "uriBaseId": "ROOT"} if inside else {"uri": uri}
    region = _region(span)
    if (span.end_line, span.end_column) <= (span.line, span.column):
        del region["endLine"], region["endColumn"]
    return {"artifactLocation": place, "region": region}


def _region(span: Span) -> Json:
    """Return a region with its end; an empty one is a place to insert at."""
    last, end = (span.line, span.column) if span.start == span.end else (span.end_line, span.end_column)
    return {
        "startLine": span.line,
        "startColumn": _column(span, span.line, span.column),
        "endLine": last,
        "endColumn": _column(span, last, end),
    }


def _column(span: Span, line: int, column: int) -> int:
    """Return a column in UTF-16 units; spans count bytes."""
    before = readable(span.file.line(line)[: column - 1])
    return len(before.encode("utf-16-le")) // 2 + 1
