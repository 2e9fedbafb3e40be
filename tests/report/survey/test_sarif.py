"""A survey as SARIF: of the standard, with a result for each loop."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import msgspec.structs
import pytest

from tests.report.survey.samples import report
from warpsmith.report.survey.model import Spot
from warpsmith.report.survey.sarif import survey_sarif


def test_sarif_is_of_the_standard() -> None:
    parts = json.loads((Path(__file__).parents[1] / "sarif_parts.json").read_text())
    log = json.loads(survey_sarif(report()))
    jsonschema.validate(log, parts)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len(run["results"]) == 59
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        place = result["locations"][0]["physicalLocation"]["artifactLocation"]
        assert place["uriBaseId"] in run["originalUriBaseIds"]
        assert place["uri"] == "src/a%20file.c"
    related = run["results"][1]["relatedLocations"]
    assert related[1]["physicalLocation"]["artifactLocation"] == {"uri": "file:///usr/include/k.h"}


@pytest.mark.parametrize("broken", [{"level": "warning"}, {"kind": "fine"}, {"rank": 101}, {"extra": 1}])
def test_the_schema_of_sarif_catches_what_is_wrong(broken: dict[str, object]) -> None:
    parts = json.loads((Path(__file__).parents[1] / "sarif_parts.json").read_text())
    log = json.loads(survey_sarif(report()))
    log["runs"][0]["results"][0] |= broken
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(log, parts)


def test_kinds_and_places_of_results() -> None:
    loops = report().loops
    moved = msgspec.structs.replace(loops[0], spot=Spot("a.c", 5, 3, 5, 3), reasons=())
    stays = msgspec.structs.replace(loops[0], construct="goto")
    made = json.loads(survey_sarif(msgspec.structs.replace(report(), loops=(moved, stays, loops[1]), status="error")))
    (run,) = made["runs"]
    assert [one["kind"] for one in run["results"]] == ["informational", "review", "review"]
    first = run["results"][0]
    assert first["locations"][0]["physicalLocation"]["region"] == {"startLine": 5, "startColumn": 3}
    assert first["ruleId"] == "POR001" and run["invocations"][0]["executionSuccessful"] is False
    assert len({one["partialFingerprints"]["loop/v1"] for one in run["results"]}) == 3
