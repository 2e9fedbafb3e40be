"""A survey as SARIF 2.1.0 (OASIS): one result a loop, so that editors and code hosts show it at its line.

A loop that may run in parallel is a `note` of kind `informational`, one that may not is a `warning` of kind `review`:
nothing is wrong with either. Paths are relative to the project's root.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from warpsmith import __version__
from warpsmith.base.findings import Finding
from warpsmith.report.json_parts import Json
from warpsmith.report.rules import load_rules
from warpsmith.report.survey.model import Spot, SurveyLoop, SurveyReport

__all__ = ["survey_sarif"]

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_RULES: Mapping[str, str] = {
    "parallel": "POR001", "parallel-after": "POR001", "reduction": "POR002", "scan": "POR002", "sequential": "POR003",
    "unanalyzable": "POR008",
}  # fmt: skip
_LEVELS: Mapping[str, str] = {"error": "error", "warning": "warning", "note": "note"}


def survey_sarif(report: SurveyReport) -> str:
    """Return the survey as one SARIF log."""
    used = sorted({_rule(loop) for loop in report.loops} | {finding.rule for finding in report.findings})
    place = {code: number for number, code in enumerate(used)}
    run: Json = {
        "tool": {
            "driver": {
                "name": "warpsmith",
                "version": __version__,
                "rules": [_describe_rule(code) for code in used],
            }
        },
        "columnKind": "utf16CodeUnits",
        "originalUriBaseIds": {"ROOT": {"uri": Path(report.root or "/").as_uri().rstrip("/") + "/"}},
        "invocations": [
            {
                "executionSuccessful": report.status in ("ok", "incomplete"),
                "toolExecutionNotifications": [_notification(finding) for finding in report.findings],
            }
        ],
        "results": [_result(loop, place) for loop in report.loops],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1, ensure_ascii=False)


def _rule(loop: SurveyLoop) -> str:
    return loop.reasons[0].rule if loop.reasons else _RULES[loop.category]


def _describe_rule(code: str) -> Json:
    rule = load_rules().get(code)
    if rule is None:
        return {"id": code}
    return {
        "id": code,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": rule.what},
        "help": {"text": rule.instead},
    }


def _notification(finding: Finding) -> Json:
    text = "\n".join((finding.message, *finding.help))
    return {"level": _LEVELS[finding.severity], "message": {"text": text}, "descriptor": {"id": finding.rule}}


def _result(loop: SurveyLoop, place: Mapping[str, int]) -> Json:
    reason = loop.reasons[0].text if loop.reasons else ""
    share = f"{100 * loop.share:.1f}% of the {'seconds' if loop.measured else 'estimated work'}"
    text = f"{loop.label} in {loop.function or 'the file'} is {loop.standing}: {reason} ({share})"
    related = [
        {"id": number, "physicalLocation": _location(spot), "message": {"text": words}}
        for number, (spot, words) in enumerate(_list_related(loop))
    ]
    entry: Json = {
        "ruleId": _rule(loop),
        "ruleIndex": place[_rule(loop)],
        "kind": "informational" if loop.portable else "review",
        "level": "none",
        "message": {"text": text},
        "locations": [
            {
                "physicalLocation": _location(loop.spot),
                "logicalLocations": [{"fullyQualifiedName": loop.id, "kind": "function"}],
            }
        ],
        "rank": round(100 * loop.share, 4),
        "partialFingerprints": {"loop/v1": _fingerprint(loop)},
        "properties": {"category": loop.category, "depth": loop.depth, "construct": loop.construct},
    }
    return entry | ({"relatedLocations": related} if related else {})


def _list_related(loop: SurveyLoop) -> list[tuple[Spot, str]]:
    found = []
    for reason in loop.reasons:
        if reason.dependence is not None:
            pair = reason.dependence
            found.append((pair.source, f"{pair.kind} dependence on {pair.variable}: first this"))
            found.append((pair.sink, "then this"))
    return found


def _location(spot: Spot) -> Json:
    absolute = spot.file.startswith("/")
    uri = Path(spot.file).as_uri() if absolute else quote(os.fsencode(spot.file))
    place: Json = {"uri": uri} if absolute else {"uri": uri, "uriBaseId": "ROOT"}
    region: Json = {"startLine": spot.line, "startColumn": spot.column}
    # a region of a line that macros have moved about may end before it starts
    if (spot.end_line, spot.end_column) > (spot.line, spot.column):
        region |= {"endLine": spot.end_line, "endColumn": spot.end_column}
    return {"artifactLocation": place, "region": region}


def _fingerprint(loop: SurveyLoop) -> str:
    """Return what a loop is known by when lines have moved: its file, its address, its text."""
    return hashlib.sha256(f"{loop.spot.file}\0{loop.id}\0{loop.head}".encode("utf-8", "surrogateescape")).hexdigest()[
        :20
    ]
