"""Where parts of a picture stand."""

from __future__ import annotations

from tests.report.history.samples import figure, listing, small
from warpsmith.report.history.layout import MOST_CLOCKS, draw_history
from warpsmith.report.history.model import shares


def test_areas_of_lanes_are_their_clocks() -> None:
    drawing = draw_history(small())
    lanes = shares(small())
    for state in ("masked", "stalled", "ready", "active"):
        area = sum(one.wide * one.high for one in drawing.boxes if one.kind == state and one.title)
        assert area == lanes[state] * 12 * 6


def test_a_part_of_a_history_is_said_to_be_one() -> None:
    whole = [one.text for one in draw_history(figure(2), 0, figure(2).clocks).words]
    part = [one.text for one in draw_history(figure(2), 100, 200).words]
    assert not any(text.startswith("Clocks") for text in whole) and any(
        text.startswith("Clocks 100 to 199 of") for text in part
    )
    boxes = draw_history(figure(2), 100, 200).boxes
    assert all(one.x >= 8 and one.x + one.wide <= 110 + 100 * 12 + 1 for one in boxes if one.title)
    assert MOST_CLOCKS == 2000


def test_slots_that_never_had_a_wave_are_told_not_drawn() -> None:
    texts = [one.text for one in draw_history(listing("up_to_16")).words]
    assert "slot 0" in texts and "slot 1" not in texts and "Slots that never had a wave are not drawn: 3." in texts


def test_events_of_caches_have_a_bar() -> None:
    bars = [one for one in draw_history(figure(2), 0, figure(2).clocks).boxes if one.kind == "hits"]
    assert len({(one.x, one.y) for one in bars}) == len(bars) > 100
    kinds = {one.kind for one in draw_history(small()).boxes if one.title}
    assert {"hits", "misses"} <= kinds and "evictions" not in kinds
    assert "l1" in [one.text for one in draw_history(small()).words]
