"""A picture as SVG: names are escaped, states have patterns."""

from __future__ import annotations

from xml.etree import ElementTree

from tests.report.history.samples import small
from warpsmith.report.history.layout import draw_history
from warpsmith.report.history.svg import history_svg


def test_the_picture_is_well_formed_and_patterns_are_used() -> None:
    drawing = draw_history(small())
    text = history_svg(drawing)
    root = ElementTree.fromstring(text)
    boxes = [one for one in root.iter() if one.tag.endswith("}rect") and one.get("x") is not None]
    assert len(boxes) == len(drawing.boxes)
    assert {one.get("fill") for one in boxes} >= {"url(#stalled)", "url(#ready)", "#000000", "#ffffff"}
    assert "small &lt;1&gt;" in text
