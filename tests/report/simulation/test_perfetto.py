"""A run as a trace: a track for each warp, time in instructions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.report.simulation.samples import run
from warpsmith.report.simulation import perfetto
from warpsmith.report.simulation.perfetto import simulation_perfetto


def events(kind: str) -> list[dict[str, Any]]:
    return [one for one in json.loads(simulation_perfetto(run()))["traceEvents"] if one["ph"] == kind]


def test_a_process_for_each_block_and_a_thread_for_each_warp() -> None:
    names = [(one["name"], one["pid"], one.get("tid"), one["args"]["name"]) for one in events("M")]
    assert names == [
        ("process_name", 0, None, "block 0"), ("thread_name", 0, 0, "warp 00"), ("thread_name", 0, 1, "warp 01"),
        ("thread_name", 0, 2, "warp 02"),
    ]  # fmt: skip


def test_an_event_for_each_step_of_each_warp() -> None:
    found = events("X")
    assert len(found) == 6
    assert found[1] == {"ph": "X", "name": "a[x] = 1;", "cat": "warp", "pid": 0, "tid": 0, "ts": 1, "dur": 4,
                        "args": {"mask": "0x0000000f", "active": 4, "line": 4}}  # fmt: skip


def test_a_trace_that_is_too_long_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perfetto, "_MOST", 4)
    assert len(events("X")) == 4 and events("i")[0]["name"] == "cut off: 2 more events"
    monkeypatch.setattr(perfetto, "_MOST", 6)
    assert not events("i")
