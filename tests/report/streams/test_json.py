"""Passes of host code as JSON."""

from __future__ import annotations

import json

from tests.report.streams.reports import REPORT
from warpsmith.report.streams.json import streams_json


def test_everything_is_in_the_document() -> None:
    found = json.loads(streams_json(REPORT))
    assert (found["host"], found["exit_code"], len(found["passes"])) == ("sort", 0, 2)
    assert found["passes"][1] == {
        "kernel": "k", "line": 8, "arguments": ["b", "a", "4"], "height": 4, "width": 8, "warp_instructions": 100,
        "lane_instructions": 3000,
    }  # fmt: skip
    assert found["outputs"][0]["first"] == ["1", "2"] and found["findings"] == []
