"""An experiment as JSON: of the report's schema."""

from __future__ import annotations

import json

import jsonschema
from msgspec.structs import replace

from tests.report.experiment.samples import by_clocks, by_width
from warpsmith.report.experiment.json import experiment_json
from warpsmith.report.json_parts import schema


def test_a_point_for_each_run() -> None:
    made = json.loads(experiment_json(by_width()))
    jsonschema.validate(made, schema())
    first, _, third, last = made["experiment"]["points"]
    assert (first["cost"], first["hot"]["visits"], first["hot"]["span"]["line"]) == (1.6, 4, 2)
    assert "hot" not in third and last == {"value": "64", "input": "sorted", "stopped": "stopped: too many steps"}
    empty = json.loads(experiment_json(replace(by_width(), points=(), status="error")))
    jsonschema.validate(empty, schema())
    assert "experiment" not in empty


def test_clocks_are_of_the_schema() -> None:
    made = json.loads(experiment_json(by_clocks()))
    jsonschema.validate(made, schema())
    assert [point.get("clocks") for point in made["experiment"]["points"]] == [100, 150, None]
