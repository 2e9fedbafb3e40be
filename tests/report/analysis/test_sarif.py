"""An analysis as SARIF: of the standard, the most severe first, what is kept back as suppressed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from msgspec.structs import replace

from tests.report.analysis.samples import TEXT, fix, report, reported
from warpsmith.base.source import SourceFile, Span
from warpsmith.report.analysis import sarif
from warpsmith.report.analysis.sarif import analysis_sarif

PARTS = json.loads((Path(__file__).parents[1] / "sarif_parts.json").read_text())


def run(**changes: object) -> Any:
    log = json.loads(analysis_sarif(report(**changes)))
    jsonschema.validate(log, PARTS)
    (found,) = log["runs"]
    rules = found["tool"]["driver"]["rules"]
    assert all(rules[one["ruleIndex"]]["id"] == one["ruleId"] for one in found["results"])
    return found


def test_the_most_severe_come_first_and_what_is_kept_back_is_suppressed() -> None:
    baseline = replace(reported("MEM020", 9, severity="error"), hidden="baseline", reason="b.json")
    found = run(
        kept_back=(baseline,),
        findings=(reported("DIV008", 5, severity="note"), reported(impact=1), reported("MEM002", 4)),
    )
    assert [one["ruleId"] for one in found["results"]] == ["MEM020", "MEM002", "MEM001", "DIV008"]
    assert found["results"][0]["suppressions"] == [{"kind": "external", "justification": "b.json"}]
    assert run()["results"][1]["suppressions"] == [{"kind": "inSource", "justification": "meant"}]
    assert "suppressions" not in found["results"][1]


def test_a_result_has_its_place_its_words_and_its_fix() -> None:
    (one, *_) = run(findings=(replace(reported(certainty="conditional"), fix=fix(safe=False)),), kept_back=())[
        "results"
    ]
    region = one["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 3, "startColumn": 1, "endLine": 3, "endColumn": 5}
    assert one["message"]["text"].split("\n") == [
        "uncoalesced store to out", "Holds if n >= 8.",
        "Estimate: traffic 8 times the minimum (model, not a measurement).", "Help: swap the loops",
    ]  # fmt: skip
    assert [near["message"]["text"] for near in one["relatedLocations"]] == ["see here", "because"]
    (change,) = one["fixes"]
    assert change["description"]["text"] == "say it otherwise (may change results)"
    assert change["artifactChanges"][0]["replacements"][0]["deletedRegion"]["endColumn"] == 5
    assert one["partialFingerprints"] == {"warpsmith/v1": "print-MEM001-3-k"}


def test_paths_are_relative_to_where_the_program_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert run()["originalUriBaseIds"]["ROOT"]["uri"] == tmp_path.as_uri() + "/"
    place = run()["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "src/k.cu", "uriBaseId": "ROOT"}
    away = SourceFile("/usr/a b.cu", TEXT)
    place = run(findings=(reported(file=away),))["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "file:///usr/a%20b.cu"}


def test_columns_are_counted_in_utf_16_and_an_empty_place_has_no_end() -> None:
    odd = SourceFile("o.cu", "\xf0\x9f\x98\x80\xc3\xa9x;\n")
    here = replace(reported().finding, span=Span(odd, 6, 7))
    region = run(findings=(replace(reported(), finding=here),))["results"][0]["locations"][0]["physicalLocation"][
        "region"
    ]
    assert region == {"startLine": 1, "startColumn": 4, "endLine": 1, "endColumn": 5}
    point = replace(here, span=Span(odd, 6, 6))
    region = run(findings=(replace(reported(), finding=point),))["results"][0]["locations"][0]["physicalLocation"][
        "region"
    ]
    assert region == {"startLine": 1, "startColumn": 4}


def test_more_than_a_host_shows_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "MOST", 2)
    found = run()
    assert len(found["results"]) == 2
    (lost, more) = found["invocations"][0]["toolExecutionNotifications"]
    assert lost["descriptor"]["id"] == "INP001"
    assert more["message"]["text"] == "1 findings of 3 are not listed: a run shows 2"


def test_an_error_is_no_success_and_rules_have_their_families() -> None:
    assert run(status="error", exit_code=2)["invocations"][0]["executionSuccessful"] is False
    found = run(findings=(reported("SYN002", severity="error"),))
    assert [one["name"] for one in found["taxonomies"]] == ["warpsmith", "CWE"]
    assert {one["id"] for one in found["taxonomies"][0]["taxa"]} == {"SYN", "MEM", "INP"}
    without = run(findings=(reported(line=None, kernel=""),), kept_back=())["results"][0]
    assert "locations" not in without


def test_the_other_places_of_a_cause_are_related_locations() -> None:
    found = run(findings=(reported(line=3), reported(line=9), reported(line=12, message="another")), kept_back=())
    (one,) = found["results"]
    lines = [place["physicalLocation"]["region"]["startLine"] for place in one["relatedLocations"]]
    assert lines[-2:] == [9, 12]
    assert one["relatedLocations"][-1]["message"]["text"] == "also: another"
