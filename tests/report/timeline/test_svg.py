"""The timeline as a picture: boxes around what is nested, bands for data that stay, an arrow for each copy."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile, Span
from warpsmith.report.timeline import svg
from warpsmith.report.timeline.events import MovedBytes, TimelineEvent
from warpsmith.report.timeline.svg import Box, Head, Line, Mark, SvgText, timeline_svg

FILE = SourceFile("a.c", "one\ntwo\n")
AT = Span(FILE, 4, 7)


def drawn(*events: TimelineEvent) -> list[Mark]:
    """Return what is drawn for the events, lanes and title left out."""
    kept: list[Mark] = []

    def page(template: str, *, marks: list[Mark], **more: object) -> str:
        kept.extend(marks)
        return "made"

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(svg, "page", page)
        assert timeline_svg(events, "title") == "made"
    assert kept[0] == SvgText(16, 26, "title", "head")
    return [mark for mark in kept[1:] if not (isinstance(mark, Line) and mark.color == "#888")
            and not (isinstance(mark, SvgText) and mark.words in ("host", "device"))]  # fmt: skip


def test_a_frame_holds_what_is_deeper() -> None:
    outer, inner, *_ = drawn(
        TimelineEvent("function", 0, "main"),
        TimelineEvent("loop", 1, "for t"),
        TimelineEvent("kernel", 2, "k"),
        TimelineEvent("branch", 1, "if (x)"),
    )
    assert isinstance(outer, Box) and isinstance(inner, Box)
    assert (outer.high, inner.high) == (4 * 26 - 4, 2 * 26 - 4) and inner.x > outer.x
    assert inner.fill != "none" and outer.fill == "none"


def test_arrows_point_to_where_the_bytes_go() -> None:
    line, head, *_ = drawn(TimelineEvent("to device", 0, "u", "8"))
    back, tip, *_ = drawn(TimelineEvent("to host", 0, "u", "8", "unless kept"))
    assert isinstance(line, Line) and isinstance(back, Line) and isinstance(head, Head) and isinstance(tip, Head)
    assert line.start[0] < line.end[0] and back.start[0] > back.end[0]
    # what may not happen is dashed
    assert (line.dashes, back.dashes) == ("", "6 4") and line.color == head.color != back.color


def test_data_that_stay_are_a_band_from_begin_to_end() -> None:
    marks = drawn(
        TimelineEvent("data region", 0, "from here"),
        TimelineEvent("kernel", 0, "k"),
        TimelineEvent("data region", 0, "back", "all"),
    )
    (band,) = (mark for mark in marks if isinstance(mark, Box) and not mark.round)
    assert band.high == 2 * 26
    # an end without a begin has none
    assert not [mark for mark in drawn(TimelineEvent("data region", 0, "back", "all")) if isinstance(mark, Box)]


def test_words() -> None:
    words = [m.words for m in drawn(TimelineEvent("loop", 0, "for t", cause=AT),
                                    TimelineEvent("function", 0, "f", cause=AT),
                                    TimelineEvent("data region", 0, "x", measured=MovedBytes(1, 2)))
             if isinstance(m, SvgText)]  # fmt: skip
    assert words == ["for t  line 2", "f  a.c:2", "data region: x  [measured: 1 x, 2 bytes]"]
    (long,) = (mark.words for mark in drawn(TimelineEvent("loop", 3, "w" * 90)) if isinstance(mark, SvgText))
    assert len(long) < 60 and long.endswith("…")


def test_an_arrow_is_as_long_as_its_copy_goes_on() -> None:
    line, head, *_, wait = drawn(
        TimelineEvent("to host", 0, "u", "8", "beside k", until=2),
        TimelineEvent("kernel", 0, "k"),
        TimelineEvent("wait", 0, "u", waiting="host"),
    )
    assert isinstance(line, Line) and isinstance(head, Head) and isinstance(wait, SvgText)
    assert line.end[1] - line.start[1] == 2 * 26 and not line.dashes
    assert wait.words == "the host waits for u" and abs(wait.y - line.end[1]) < 26
