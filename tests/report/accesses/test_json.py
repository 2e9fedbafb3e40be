"""Access patterns as JSON, of the report's schema."""

from __future__ import annotations

import json

import jsonschema

from tests.flows.nests import PRODUCT, access_report
from warpsmith.report.accesses.json import accesses_json
from warpsmith.report.port.json import schema


def test_json_is_of_the_reports_schema() -> None:
    document = json.loads(accesses_json(access_report(PRODUCT, "mm/i")))
    jsonschema.validate(document, schema())
    (space,) = document["patterns"]["spaces"]
    assert (space["kernels"], space["mapping"], space["one_nest"]) == (["ws_mm_k1"], ["y", "x", "thread"], [])
    assert [a["arrays"] for a in space["alike"]] == [["A", "C"], ["B", "C"]]
    assert space["references"][0]["matrix"][1] == {
        "subscript": "k",
        "counters": [0, 0, 1],
        "parameters": [],
        "constant": 0,
    }
    assert space["references"][0]["reuse"] == [{"direction": [0, 1, 0], "lands": "shared tile"}]


def test_what_stays_and_what_is_irregular() -> None:
    text = "void f(int n, double *a, int *k) { for (int i = 1; i < n; i++) a[k[i]] = a[i-1] + a[i]; }"
    document = json.loads(accesses_json(access_report(text, "f/i")))
    jsonschema.validate(document, schema())
    assert document["patterns"]["refused"]
    (space,) = document["patterns"]["spaces"]
    assert "kernels" not in space and "sharing" not in space
    rows = {r["text"]: r["matrix"][0] for r in space["references"]}
    assert rows["a[k[i]]"] == {"subscript": "k[i]", "irregular": True, "follows": [0]}
