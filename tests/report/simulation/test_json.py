"""A run of a kernel as JSON: of the report's schema."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
from msgspec.structs import replace

from tests.report.simulation.samples import at, run
from warpsmith.report.json_parts import schema
from warpsmith.report.simulation.json import simulation_json
from warpsmith.report.simulation.model import BlockRow, PolicyRow


def document(**changes: object) -> Any:
    made = json.loads(simulation_json(run(**changes)))
    jsonschema.validate(made, schema())
    return made


def test_a_key_for_each_check_that_was_asked_for() -> None:
    found = document()["simulation"]
    assert len(found["races"]) == 1 and found["out_of_bounds"] == [] and "uninitialized" not in found
    (race,) = found["races"]
    assert (race["variable"], race["times"], race["other"]) == ("a[3]", 3, {"block": 0, "thread": 2})
    assert "faults" not in found
    fault = replace(run().mistakes[0], check="fault", other=None, variable="")
    (entry,) = document(mistakes=(fault,))["simulation"]["faults"]
    assert not {"other", "variable"} & set(entry)


def test_a_policy_has_its_counts_and_how_it_ended() -> None:
    rows = (PolicyRow("ipdom", 12, 100, 480, 30, 2, ("a",)), PolicyRow("structurized", stopped="cannot take it"))
    first, second = document(policies=rows)["simulation"]["policies"]
    assert (first["waiting_sets"], first["differs"], "stopped" in first) == (2, ["a"], False)
    assert (second["warp_instructions"], second["stopped"]) == (0, "cannot take it")
    (block,) = document(blocks=(BlockRow(at(3), 4, 10, 300, 20),))["simulation"]["blocks"]
    assert (block["visits"], block["lanes"], "span" in block) == (10, 300, True)
    assert "policies" not in document()["simulation"]


def test_counts_and_the_timeline() -> None:
    found = document()["simulation"]
    assert found["simd_efficiency"] == 0.25 and [("span" in one) for one in found["branches"]] == [True, False]
    assert found["timeline"][0]["columns"][0] == {"warps": [[0, 0], [0, 1]], "masks": ["0xffffffff", "0xf"]}
    assert "timeline" not in document(timeline=())["simulation"]
    assert found["outputs"][0]["file"] == "a.npy"
    assert document()["timing_s"] == {"run": 0.1235}


def test_a_run_that_could_not_be_started_has_no_numbers() -> None:
    found = document(work=None, status="error")
    assert "simulation" not in found and "findings" not in found and found["status"] == "error"
