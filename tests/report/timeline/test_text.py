"""The timeline of a port as text."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile, Span
from warpsmith.report.timeline.events import MovedBytes, TimelineEvent
from warpsmith.report.timeline.text import bytes_text, copy_note, measured_text, place_text, timeline_text

FILE = SourceFile("src\\dir/a.c", "one\ntwo\n")
AT = Span(FILE, 4, 7)


def test_one_line_an_event_indented_as_it_is_nested() -> None:
    events = [
        TimelineEvent("function", 0, "main", when="as above: it calls itself", cause=AT),
        TimelineEvent("loop", 1, "for t", cause=AT),
        TimelineEvent("branch", 1, "where a guard fails"),
        TimelineEvent("to device", 2, "u", "n * sizeof(double)", "unless kept", AT),
        TimelineEvent("kernel", 2, "k1"),
        TimelineEvent("to host", 2, "u", "all of its block", cause=AT, measured=MovedBytes(2, 64)),
        TimelineEvent("suspended", 1, "everything on the device", "all that was written"),
        TimelineEvent("data region", 1, "data stay"),
        TimelineEvent("wait", 1, "u, v", waiting="kernels"),
        TimelineEvent("wait", 1, "u", waiting="host"),
    ]
    assert timeline_text(events).split("\n") == [
        "timeline",
        "  main (a.c:2), as above: it calls itself",
        "    for t  line 2",
        "    where a guard fails",
        "      u -> device  for line 2, n * 8 bytes, unless kept",
        "      k1",
        "      u -> host  for line 2, all of its block  [measured: 2 x, 64 bytes]",
        "    everything on the device -> host  all that was written",
        "    data region: data stay",
        "    kernels wait for u, v",
        "    the host waits for u",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("n * sizeof(const float)", "n * 4 bytes"),
        ("n * sizeof(struct s)", "n * sizeof(struct s) bytes"),
        ("all of its rows' blocks", "all of its rows' blocks"),
        ("total", "total bytes"),
        ("x" * 60, "x" * 60 + " bytes"),
        ("x" * 61, "x" * 56 + " ... bytes"),
    ],
)
def test_bytes(text: str, shown: str) -> None:
    assert bytes_text(text) == shown


def test_parts_that_are_missing() -> None:
    assert copy_note(TimelineEvent("to host", 0, "u", "8")) == "8 bytes"
    assert (place_text(None), place_text(AT)) == ("", "a.c:2")
    assert (measured_text(None), measured_text(MovedBytes(0, 0))) == ("", "  [measured: 0 x, 0 bytes]")
