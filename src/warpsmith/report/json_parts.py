"""The parts of JSON that every command's report has: places, findings, the schema.

Reports in words use some of it too: what writes JSON is loaded where a document is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

from warpsmith import __version__
from warpsmith.analysis.uniformity.facts import Count
from warpsmith.base.findings import Finding
from warpsmith.base.source import Span, readable

__all__ = ["SCHEMA", "Json", "count_json", "document", "finding_json", "schema", "span_json"]

SCHEMA = "warpsmith-report/1"
Json = dict[str, object]


def schema() -> Json:
    """Return the JSON Schema of the report."""
    import json

    text = resources.files("warpsmith.report").joinpath("schema/warpsmith-report-1.json").read_text("utf-8")
    loaded: Json = json.loads(text)
    return loaded


def document(
    command: str, inputs: Sequence[str], rows: Json, status: str = "ok", diagnostics: Sequence[Finding] = ()
) -> str:
    """Return a document of the report's schema: what every one of them begins with, and `rows`."""
    import json

    head: Json = {
        "schema": SCHEMA, "command": command, "version": __version__, "inputs": list(inputs), "status": status,
        "diagnostics": [finding_json(finding) for finding in diagnostics],
    }  # fmt: skip
    return json.dumps(head | rows, indent=2, ensure_ascii=False)


def count_json(count: Count | None) -> Json | None:
    """Return a number of every request as the schema has it."""
    return None if count is None else {"least": count.least, "most": count.most}


def span_json(span: Span) -> Json:
    """Return a place as the schema has it."""
    return {
        "file": span.file.path,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }


def finding_json(finding: Finding) -> Json:
    """Return a finding as the schema has it."""
    import hashlib

    where = "" if finding.span is None else f"{finding.span.file.path}:{finding.span.text[:80]}"
    words = f"{finding.rule}\0{where}\0{finding.message}"
    fingerprint = hashlib.sha256(words.encode("utf-8", "surrogateescape")).hexdigest()[:20]
    entry: Json = {
        "rule": finding.rule,
        "severity": finding.severity,
        "certainty": finding.certainty,
        "assumptions": [readable(text) for text in finding.assumptions],
        "message": readable(finding.message),
        "related": [{"span": span_json(note.span), "text": readable(note.text)} for note in finding.related],
        "help": [readable(text) for text in finding.help],
        "fix": None,
        "fingerprint": fingerprint,
    }
    return entry if finding.span is None else entry | {"span": span_json(finding.span)}
