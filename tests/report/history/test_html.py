"""The page: what travels in it, and that names are escaped."""

from __future__ import annotations

from tests.report.history.samples import figure, small
from warpsmith.report.history.html import history_data, history_html
from warpsmith.simt.clocks.model import STATES


def test_runs_of_slots_travel_whole() -> None:
    history = figure(2)
    data = history_data(history)
    assert sum(len(slot["start"]) for slot in data["slots"]) == len(history.run.stretches)
    for number, slot in enumerate(data["slots"]):
        ends = [*slot["start"][1:], data["clocks"]]
        for code, state in enumerate(STATES):
            clocks = sum(e - s for s, e, k in zip(slot["start"], ends, slot["state"], strict=True) if k == code)
            own = [one for one in history.run.stretches if one.slot == number and one.state == state]
            assert clocks == sum(one.end - one.start for one in own)
    assert sum(len(bar["start"]) for bar in data["alus"]) == len(history.run.alus)
    assert {bar["name"]: sum(bar["hits"]) for bar in data["caches"]} == {
        "l2": history.run.totals.cache_events[1][0], "core 0 sampler": history.run.totals.cache_events[2][0],
    }  # fmt: skip


def test_the_page_is_one_file_and_names_are_escaped() -> None:
    text = history_html(small())
    assert "small &lt;1&gt;" in text and "<1>" not in text
    assert "http://" not in text and "https://" not in text and "data-history=" in text
