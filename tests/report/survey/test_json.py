"""A survey as JSON: of the report's schema."""

from __future__ import annotations

import json

import jsonschema
import msgspec.structs

from tests.report.survey.samples import report
from warpsmith.report.port.json import schema
from warpsmith.report.survey.json import survey_json


def test_json_is_of_the_reports_schema() -> None:
    document = json.loads(survey_json(report()))
    jsonschema.validate(document, schema())
    assert document["survey"]["total"] == len(document["loops"]) == 59
    assert [entry["id"] for entry in document["survey"]["first"]] == ["f1/i"]
    assert sum(document["survey"]["categories"].values()) == 59
    assert sum(entry["loops"] for entry in document["survey"]["blockers"]) == 58
    measured = msgspec.structs.replace(report().loops[0], measured=True, entries=1.0, iterations=9.0, seconds=0.5)
    jsonschema.validate(json.loads(survey_json(msgspec.structs.replace(report(), loops=(measured,)))), schema())


def test_what_is_not_known_is_left_out() -> None:
    loop = msgspec.structs.replace(report().loops[0], steps=("fuse:f/i",), construct="goto")
    bare, full = json.loads(survey_json(msgspec.structs.replace(report(), loops=(report().loops[0], loop))))["loops"]
    assert not {"steps", "construct"} & set(bare) and (full["steps"], full["construct"]) == (["fuse:f/i"], "goto")
    first, second = json.loads(survey_json(report()))["loops"][:2]
    assert "dependence" not in first["reasons"][0]
    told = second["reasons"][0]["dependence"]
    pair = report().loops[1].reasons[0].dependence
    assert pair is not None
    known = msgspec.structs.replace(pair, distance=(1, 2))
    reason = msgspec.structs.replace(report().loops[1].reasons[0], dependence=known)
    loop = msgspec.structs.replace(report().loops[1], reasons=(reason,))
    (entry,) = json.loads(survey_json(msgspec.structs.replace(report(), loops=(loop,))))["loops"]
    assert entry["reasons"][0]["dependence"]["distance"] == [1, 2]
    # a distance that varies in one loop is none
    assert (
        told["distance"] is None and told["direction"] == ["<", "*"] and second["reasons"][0]["legal_if"] == ["<none>"]
    )


def test_files_without_an_answer_in_time_are_named() -> None:
    assert "not_in_time" not in json.loads(survey_json(report()))["survey"]
    document = json.loads(survey_json(msgspec.structs.replace(report(), late=("slow.c",))))
    jsonschema.validate(document, schema())
    assert document["survey"]["not_in_time"] == ["slow.c"]
