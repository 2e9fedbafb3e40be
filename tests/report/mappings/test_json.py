"""The mappings of a nest as JSON, of the report's schema."""

from __future__ import annotations

import json

import jsonschema
import pytest

from tests.flows.placing.test_mappings import PIXELS, SIZED, explained
from warpsmith.report.json_parts import schema
from warpsmith.report.mappings.json import mappings_json

ONE = "void g(int n, double *a) { for (int i = 0; i < n; i++) a[i] = 1; }"


def test_json_is_of_the_reports_schema_and_has_every_mapping() -> None:
    check(PIXELS, "f/p", timed=False)
    check(ONE, "g/i", timed=False)


@pytest.mark.slow
def test_times_are_there_where_sizes_are_known() -> None:
    check(SIZED, "turn/i", timed=True)


def check(text: str, subject: str, *, timed: bool) -> None:
    document = json.loads(mappings_json(explained(text, subject)))
    jsonschema.validate(document, schema())
    (nest,) = document["mappings"]["nests"]
    for winner in nest["winners"]:
        assert nest["choices"][winner["choice"]]["axes"]
    assert ("table" in nest["choices"][0]["scores"][0]) == (len(nest["counters"]) > 1)
    assert ("seconds" in nest["choices"][0]) == timed


def test_a_mistake_has_the_right_number() -> None:
    (nest,) = json.loads(mappings_json(explained(PIXELS, "f/p")))["mappings"]["nests"]
    assert nest["choices"][0]["scores"][0]["table"] == {
        "entry": "t32", "printed": "1", "verdict": "no sharing", "lines_per_thread": 1.0, "right": 1 / 32,
        "mistaken": True,
    }  # fmt: skip


def test_a_refusal_is_told() -> None:
    text = "void f(int n, double *a) { for (int i = 1; i < n; i++) { double x = a[i-1]; a[i] = x * x + a[i]; } }"
    document = json.loads(mappings_json(explained(text, "f/i")))
    jsonschema.validate(document, schema())
    assert document["mappings"]["nests"] == [] and document["mappings"]["refused"]
