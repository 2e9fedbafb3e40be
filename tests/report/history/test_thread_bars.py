"""Clocks of each thread as bars (figure 8)."""

from __future__ import annotations

import numpy as np

from warpsmith.report.history.thread_bars import MOST_BARS, draw_thread_bars


def test_bars_are_stacked_on_one_scale() -> None:
    one, other = np.array([[10, 0, 5, 5], [0, 40, 0, 0]]), np.array([[4, 0, 0, 0], [4, 0, 0, 0]])
    drawing = draw_thread_bars("k", "c", [("one", one), ("other", other)])
    bars = [box for box in drawing.boxes if box.title]
    assert [(box.kind, box.high) for box in bars] == [
        ("active", 18.0), ("stalled", 9.0), ("ready", 9.0), ("masked", 72.0), ("active", 7.2),
    ]  # fmt: skip
    active, stalled, ready, masked, both = bars
    assert active.y == stalled.y + stalled.high and stalled.y == ready.y + ready.high
    assert masked.x == active.x + active.wide and both.wide == 2 * active.wide
    assert both.title == "thread 0 to 1: active 4 clocks" and masked.title == "thread 1: masked off 40 clocks"
    words = [one.text for one in drawing.words]
    assert {"one", "other", "active 17 %", "active 100 %", "top: 40"} <= set(words)


def test_of_many_threads_the_first_are_drawn() -> None:
    drawing = draw_thread_bars("k", "c", [("one", np.ones((2 * MOST_BARS, 4), np.int64))])
    assert max(box.x + box.wide for box in drawing.boxes) <= drawing.wide
