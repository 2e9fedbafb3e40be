"""An analysis as JSON: of the report's schema, a key only where there is something."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
from msgspec.structs import replace

from tests.report.analysis.samples import access, branch, fix, kernel, report, reported
from warpsmith.analysis.uniformity.simulated import AccessSums, SimulatedAccess
from warpsmith.report.analysis.json import analysis_json, analysis_jsonl
from warpsmith.report.json_parts import schema


def document(**changes: object) -> Any:
    suppressed = bool(changes.pop("suppressed", False))
    found = json.loads(analysis_json(report(**changes), suppressed=suppressed))
    jsonschema.validate(found, schema())
    return found


def test_a_whole_report_is_of_the_schema() -> None:
    found = document(findings=(replace(reported(certainty="conditional"), fix=fix()), reported(line=None)),
                     accesses=(access(blocked="why"), access(None)), branches=(branch(), branch(None)))  # fmt: skip
    first, second = found["findings"]
    assert first["estimate"] == {
        "metric": "traffic", "value": 8.0, "unit": "times the minimum", "basis": "model, not a measurement"
    }  # fmt: skip
    assert first["why"] == [{"text": "because", "span": first["why"][0]["span"]}, {"text": "of this"}]
    assert first["fix"] is not None and second["fix"] is None
    assert "span" not in second and "span" in first
    assert [("blocked" in one, "span" in one) for one in found["accesses"]] == [(True, True), (False, False)]
    assert "span" not in found["branches"][1]
    assert found["accesses"][0]["sectors_per_request"] == {"least": 32, "most": 32}
    assert found["accesses"][0]["bank_ways"] is None


def test_what_another_finding_speaks_for_names_it() -> None:
    first, second = document(findings=(reported(line=3), reported(line=4)))["findings"]
    assert "same_as" not in first and second["same_as"] == first["fingerprint"]


def test_what_is_kept_back_is_there_where_it_is_asked_for() -> None:
    assert "kept_back" not in document()
    (kept,) = document(suppressed=True)["kept_back"]
    assert kept["hidden"] == {"by": "suppressed", "reason": "meant"}
    assert document()["hidden"] == {"suppressed": 1, "less_certain": 1}
    assert "hidden" not in document(kept_back=(), below=0)


def test_kernels() -> None:
    (unknown,) = document()["kernels"]
    assert unknown["grid"] == ["unknown"] * 3
    assert unknown["occupancy"] == {"device": "h100", "warps": 48, "limit": 64, "limited_by": "registers"}
    held = replace(kernel().resources, occupancy=None)
    (known,) = document(kernels=(kernel(grid=(1, 2, 3), resources=held, span=None, block_assumed=("a",)),))["kernels"]
    assert (known["grid"], known["assumed"]) == (["1", "2", "3"], ["a"])
    assert "occupancy" not in known and "span" not in known


def test_empty_parts_are_left_out() -> None:
    found = document(kernels=(), findings=(), branches=(), accesses=(), timing_s={}, kept_back=(), below=0)
    assert set(found) == {"schema", "command", "version", "inputs", "status", "diagnostics"}


def test_lines_are_documents_of_their_own() -> None:
    rows = [json.loads(line) for line in analysis_jsonl(report()).split("\n")]
    assert [row["type"] for row in rows] == ["diagnostic", "kernel", "finding", "finding", "end"]
    assert rows[-1]["status"] == "ok" and rows[-1]["suppressed"] == 1 and rows[2]["rule"] == "MEM001"


def test_what_a_run_counted() -> None:
    sums = (AccessSums(2, 64, 40, 8, 0), AccessSums(3, 96, 70, 12, 0))
    seen = SimulatedAccess(sums, "conditional", ("n is 128",), "warpsmith simulate k.cu")
    (one, other) = document(accesses=(replace(access(), simulated=seen), access()))["accesses"]
    assert one["simulated"] == {
        "requests": 2, "lanes": 64, "sectors": 40, "ideal": 8, "bank_conflicts": 0, "runs": 2,
        "certainty": "conditional", "assumptions": ["n is 128"], "replay": "warpsmith simulate k.cu",
    }  # fmt: skip
    assert "simulated" not in other
