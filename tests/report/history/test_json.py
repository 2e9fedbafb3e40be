"""The sums of a run, and findings, as JSON."""

from __future__ import annotations

import json

from tests.report.history.samples import small
from warpsmith.base.findings import Finding
from warpsmith.report.history.json import history_json


def test_sums_and_findings() -> None:
    found = json.loads(history_json(small(), (Finding("MSK005", "warning", "lanes wait", None, ("pop",)),)))
    assert found["clocks"] == small().clocks and found["caches"]["l1"] == {"hits": 1, "misses": 1, "evictions": 0}
    assert sum(found["slot_clocks"].values()) == 2 * small().clocks
    assert found["findings"] == [
        {"rule": "MSK005", "severity": "warning", "message": "lanes wait", "help": ["pop"], "line": None}
    ]
