"""Formats agree on the sums of a run."""

from __future__ import annotations

import json

from tests.report.history.samples import small
from warpsmith.report.history.json import history_json
from warpsmith.report.history.perfetto import history_perfetto


def test_formats_agree_on_the_clocks_of_waves() -> None:
    sums = json.loads(history_json(small(), ()))["slot_clocks"]
    events = [one for one in json.loads(history_perfetto(small()))["traceEvents"] if one["ph"] == "X"]
    for state in ("active", "memory", "dependency", "ready"):
        assert sum(one["dur"] for one in events if one["args"]["state"] == state) == sums[state]
