"""The document is one of the report's schema, and has every row."""

from __future__ import annotations

import json

import jsonschema
import pytest

from tests.report.journey.made import made_journey
from warpsmith.report.journey.json import journey_json
from warpsmith.report.json_parts import schema


@pytest.mark.parametrize(("stopped", "status"), [(True, "negative"), (False, "ok")])
def test_it_is_valid_and_says_how_it_ended(stopped: bool, status: str) -> None:
    document = json.loads(journey_json(made_journey(stopped=stopped), ("a.c", "a.cu")))
    jsonschema.validate(document, schema())
    assert (document["command"], document["inputs"], document["status"]) == ("demo journey", ["a.c", "a.cu"], status)
    stages = document["journey"]
    assert [row["target"] for row in stages["written"]["rows"]] == ["ptx", "mask"]
    assert stages["ran"]["rows"][0] == {
        "version": "port", "machine": "interpreter", "target": "", "verdict": "equal", "elements": 4, "differ": 0,
        "ulp": 0, "why": "", "seconds": 0.0,
    }  # fmt: skip


def test_a_key_that_the_schema_has_not_is_noticed() -> None:
    document = json.loads(journey_json(made_journey(), ()))
    document["journey"]["ran"]["rows"][0]["guess"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema())
