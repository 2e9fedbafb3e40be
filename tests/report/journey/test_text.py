"""The terminal has a few lines or a small table for each stage."""

from __future__ import annotations

from tests.report.journey.made import made_journey
from warpsmith.report.journey.text import journey_text


def test_each_stage_has_its_title_and_time() -> None:
    text = journey_text(made_journey())
    assert text.startswith(
        "a through everything\n\n1  where it comes from  (1.2 s)\n  port: C loops a.c, kernel k1, 3 launches\n"
    )
    assert "port: C loops b.c: no kernel to go on with, since it has no loops" in text
    assert "7  the same in Brook+  (0.0 s)\n  not done: Brook+ has no such thing" in text
    assert "port, by port --optimize: tile=f/i; its output is the original's" in text
    assert text.endswith("\n\n2 of 4 outputs differ from the original's; 1 not run.")


def test_texts_of_targets_are_for_the_page() -> None:
    text = journey_text(made_journey())
    assert "ret;" not in text and "12 lines" in text and "refused" in text
