"""A track for each slot, whose events never overlap."""

from __future__ import annotations

import json
from itertools import pairwise

from tests.report.history.samples import small
from warpsmith.report.history.perfetto import history_perfetto


def test_tracks_and_events_in_order() -> None:
    document = json.loads(history_perfetto(small()))
    events = [one for one in document["traceEvents"] if one["ph"] == "X"]
    names = [one["args"]["name"] for one in document["traceEvents"] if one["ph"] == "M"]
    assert names == ["core 0", "slot 00", "slot 01"]
    for slot in (0, 1):
        own = [one for one in events if one["tid"] == slot]
        assert all(one["ts"] + one["dur"] <= after["ts"] for one, after in pairwise(own))
    masked = [one for one in events if one["name"].startswith("add.u32")]
    assert next(one["args"] for one in masked) | {"wave": 0} == {
        "state": "active", "wave": 0, "mask": "0xe", "active": 3, "line": 4,
    }  # fmt: skip
