"""A search as JSON is what the schema says, with every candidate."""

from __future__ import annotations

import json

import jsonschema
from msgspec.structs import replace

from tests.report.search.found import FOUND, NONE
from warpsmith.report.json_parts import schema
from warpsmith.report.model import Report
from warpsmith.report.port.json import report_json


def test_every_candidate_is_there_and_the_document_is_valid() -> None:
    for found in (FOUND, NONE, replace(FOUND, assumed=(("n", 4096),), lacking=(("g/i", "time"),), ended=True)):
        document = json.loads(report_json(Report("port", ("a.c",), "ok", search=found)))
        jsonschema.validate(document, schema())
        search = document["search"]
        assert search["label"] == "predicted" and len(search["candidates"]) == len(found.candidates)
        assert search["ended_by_budget"] == found.ended and search["assumed"] == dict(found.assumed)
    taken = [one["steps"] for one in json.loads(report_json(Report("port", (), "ok", search=FOUND)))["search"][
        "candidates"] if one["taken"]]  # fmt: skip
    assert taken == [["map=f/i,axes=x,block=64"]]
