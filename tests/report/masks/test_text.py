"""Masks as text."""

from __future__ import annotations

from tests.report.masks.reports import report_of
from warpsmith.report.masks.text import mask_letters, masks_text


def test_lane_0_is_leftmost() -> None:
    assert mask_letters(0b0011, 4) == "11.."


def test_a_line_for_each_instruction() -> None:
    lines = masks_text(report_of(2)).splitlines()
    assert lines[0] == "k.s on gfx900: 2 waves of 4 lanes, 4 instructions"
    assert lines[3:5] == [" 9  1.1.  v_op0", "10  1.1.  v_op1"]
    assert lines[-1] == "out: u32[9], 2 changed: 1 2 …"


def test_what_is_left_out_is_said() -> None:
    assert "and 40 more; --timeline ascii shows more" in masks_text(report_of(100))
    assert "more" not in masks_text(report_of(100), everything=True)
