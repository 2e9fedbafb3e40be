"""The parts of JSON that every report has."""

from __future__ import annotations

import json

import jsonschema

from warpsmith.base.findings import Finding, Note
from warpsmith.base.source import SourceFile, Span
from warpsmith.report.json_parts import document, finding_json, schema, span_json

FILE = SourceFile("a.c", "one\ntwo caf\xc3\xa9\n")
SPAN = Span(FILE, 4, 7)


def test_a_place() -> None:
    assert span_json(SPAN) == {"file": "a.c", "line": 2, "column": 1, "end_line": 2, "end_column": 4}


def test_a_finding_with_and_without_a_place() -> None:
    full = finding_json(Finding("INP001", "error", "caf\xc3\xa9", SPAN, ("do it",), (Note(SPAN, "here"),)))
    assert full["message"] == "café" and full["span"] == span_json(SPAN)
    assert full["related"] == [{"span": span_json(SPAN), "text": "here"}]
    assert "span" not in finding_json(Finding("INP001", "error", "words"))


def test_a_finding_is_known_by_its_rule_text_and_words_and_not_by_its_line() -> None:
    def known(rule: str = "INP001", span: Span | None = SPAN, words: str = "words") -> object:
        return finding_json(Finding(rule, "error", words, span))["fingerprint"]

    moved = SourceFile("a.c", "more\none\ntwo\n")
    assert known() == known(span=Span(moved, 9, 12))
    assert len({known(), known("INP002"), known(span=Span(FILE, 0, 3)), known(words="other"), known(span=None)}) == 5


def test_a_document_begins_with_what_all_have() -> None:
    made = json.loads(document("rules", ("a.c",), {"rules": []}, "negative", (Finding("INP001", "error", "x"),)))
    assert list(made) == ["schema", "command", "version", "inputs", "status", "diagnostics", "rules"]
    assert (made["command"], made["inputs"], made["status"], len(made["diagnostics"])) == (
        "rules",
        ["a.c"],
        "negative",
        1,
    )
    assert json.loads(document("rules", (), {}))["status"] == "ok"
    jsonschema.Draft202012Validator.check_schema(schema())
