"""Threads a second as JSON of the report's schema."""

from __future__ import annotations

import json

import jsonschema

from tests.report.throughput.rows import REPORT
from warpsmith.report.json_parts import schema
from warpsmith.report.throughput.json import throughput_json


def test_the_document_is_of_the_schema() -> None:
    document = json.loads(throughput_json(REPORT))
    jsonschema.validate(document, schema())
    first, second, third = document["throughput"]
    assert first["guessed"] == ["--grid"] and document["inputs"] == ["k.cu", "none.cu"]
    assert first["gpus"][0]["sass_instructions"] == 20 and first["gpus"][0]["decides"] == "memory"
    assert first["gpus"][1]["registers_source"] == "estimate" and first["gpus"][1]["loads"] is None
    assert second["gpus"][0]["mega_threads_per_second"] is None and second["gpus"][0]["lacks"]
    assert "gpus" not in third and third["findings"][0]["rule"] == "INP001"
