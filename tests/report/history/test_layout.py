"""Where parts of a picture stand."""

from __future__ import annotations

from msgspec.structs import replace

from tests.report.history.samples import figure, listing, small
from warpsmith.report.history.layout import MOST_CLOCKS, draw_history
from warpsmith.report.history.model import shares


def test_areas_of_lanes_are_their_clocks() -> None:
    drawing = draw_history(small())
    lanes = shares(small())
    clock = 760 // small().clocks
    assert 12 < clock < 48
    for state in ("masked", "stalled", "ready", "active"):
        area = sum(one.wide * one.high for one in drawing.boxes if one.kind == state and one.title)
        assert area == lanes[state] * clock * 6


def test_a_part_of_a_history_is_said_to_be_one() -> None:
    whole = [one.text for one in draw_history(replace(figure(2), shown=(0, figure(2).clocks))).words]
    part = [one.text for one in draw_history(replace(figure(2), shown=(100, 200))).words]
    assert not any(text.startswith("Clocks") for text in whole) and any(
        text.startswith("Clocks 100 to 199 of") for text in part
    )
    boxes = draw_history(replace(figure(2), shown=(100, 200))).boxes
    assert all(one.x >= 8 and one.x + one.wide <= 110 + 100 * 12 + 1 for one in boxes if one.title)
    assert MOST_CLOCKS == 2000


def test_slots_that_never_had_a_wave_are_told_not_drawn() -> None:
    texts = [one.text for one in draw_history(listing("up_to_16")).words]
    assert "slot 0" in texts and "slot 1" not in texts and "Slots that never had a wave are not drawn: 3." in texts


def test_events_of_caches_have_a_bar() -> None:
    bars = [one for one in draw_history(replace(figure(2), shown=(0, 9999))).boxes if one.kind == "hits" and one.title]
    assert len({(one.x, one.y) for one in bars}) == len(bars) > 100
    kinds = {one.kind for one in draw_history(small()).boxes if one.title}
    assert {"hits", "misses"} <= kinds and "evictions" not in kinds
    assert "l1" in [one.text for one in draw_history(small()).words]


def test_title_and_legend_say_what_is_seen_and_stand_in_the_picture() -> None:
    drawing = draw_history(small())
    texts = [one.text for one in drawing.words]
    assert texts[:2] == ["small <1>", "two waves"] and drawing.title == "small <1>: two waves"
    for state in ("active: an", "masked off: the", "stalled: waits", "ready, not issued: could", "no wave: the"):
        assert any(text.startswith(state) for text in texts), state
    # letters of a PNG are 8 points wide: no words over each other or over the edge, and a swatch for each kind
    for one in drawing.words:
        left = one.x - {"start": 0, "middle": 4, "end": 8}[one.anchor] * len(one.text)
        assert left >= 0 and left + 8 * len(one.text) <= drawing.wide and one.y < drawing.high, one.text
        right = [two.x for two in drawing.words if two.y == one.y and two.x > one.x and two.anchor == "start"]
        assert one.anchor != "start" or all(one.x + 8 * len(one.text) < x for x in right), one.text
    swatches = [one.kind for one in drawing.boxes if (one.wide, one.high, one.title) == (18, 12, "")]
    assert swatches[:5] == ["active", "masked", "stalled", "ready", "empty"] and len(swatches) == 9
