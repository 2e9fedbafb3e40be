"""The timeline as one picture: time runs down, the host on the left, the device on the right, an arrow for each copy.

Loops and functions are boxes around what happens inside; a data region is a shaded band: what is on the device stays
there. The arrow of a copy that goes on beside other work is as long as that. The file stands alone: no script, no font
of its own. `timeline.svg` draws what is put together here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from warpsmith.report.pages.page import page
from warpsmith.report.timeline.events import TimelineEvent
from warpsmith.report.timeline.text import copy_note, measured_text, place_text, wait_text

__all__ = ["Box", "Head", "Line", "Mark", "SvgText", "timeline_svg"]

_ROW, _TOP, _STEP = 26, 64, 16
_HOST, _DEVICE, _WIDTH = 430, 640, 1720
_COLORS = {"to device": "#1a6fb5", "to host": "#b5541a", "suspended": "#a01540", "kernel": "#2b7a3d"}


class SvgText(Struct, frozen=True):
    """Words, with where they stand, in pixels as everything here."""

    x: float
    y: float
    words: str
    kind: str = ""
    anchor: str = "start"
    form: Literal["text"] = "text"


class Box(Struct, frozen=True):
    """A rectangle; `stroke` and `round` are "" and 0 where it has no frame and no round corners."""

    x: int
    y: int
    wide: int
    high: int
    fill: str
    stroke: str = ""
    round: int = 0
    dashes: str = ""
    form: Literal["box"] = "box"


class Line(Struct, frozen=True):
    """A straight line from one point to another."""

    start: tuple[int, int]
    end: tuple[int, int]
    color: str
    thick: str
    dashes: str = ""
    form: Literal["line"] = "line"


class Head(Struct, frozen=True):
    """The head of an arrow, as SVG writes paths."""

    path: str
    color: str
    form: Literal["head"] = "head"


Mark = SvgText | Box | Line | Head


def timeline_svg(events: Sequence[TimelineEvent], title: str) -> str:
    """Return the picture as SVG text."""
    height = _TOP + _ROW * (len(events) + 1)
    copies = [mark for row, event in enumerate(events) for mark in _event(event, _y(row))]
    marks = [SvgText(16, 26, title, "head"), *_data_regions(events), *_boxes(events), *_lanes(height), *copies]
    return page("timeline/timeline.svg", title=title, wide=_WIDTH, high=height, marks=marks)


def _y(row: int) -> int:
    return _TOP + _ROW * row + _ROW // 2


def _lanes(height: int) -> list[Mark]:
    lines: list[Mark] = []
    for x, name in ((_HOST, "host"), (_DEVICE, "device")):
        lines.append(Line((x, _TOP - 6), (x, height - 8), "#888", "1.5"))
        lines.append(SvgText(x, _TOP - 14, name, "name", "middle"))
    return lines


def _data_regions(events: Sequence[TimelineEvent]) -> list[Mark]:
    """Return a band for each data region, from its begin to its end."""
    bands: list[Mark] = []
    opened: list[int] = []
    for row, event in enumerate(events):
        if event.kind != "data region":
            continue
        if not event.bytes:
            opened.append(row)
        elif opened:
            first = opened.pop()
            bands.append(Box(_DEVICE - 14, _y(first), 28, _ROW * (row - first), "#d9ecd9"))
    return bands


def _boxes(events: Sequence[TimelineEvent]) -> list[Mark]:
    """Return a frame for each function, loop and branch around the events that are deeper."""
    boxes: list[Mark] = []
    for row, event in enumerate(events):
        if event.kind not in ("function", "loop", "branch"):
            continue
        last = row
        while last + 1 < len(events) and events[last + 1].depth > event.depth:
            last += 1
        x = 12 + _STEP * event.depth
        y, tall = _y(row) - _ROW // 2 + 2, _ROW * (last - row + 1) - 4
        dashes = "4 3" if event.kind == "branch" else ""
        fill = "#eef2fb" if event.kind == "loop" else "none"
        boxes.append(Box(x, y, _HOST - 26 - x, tall, fill, "#9aa5bb", 4, dashes))
    return boxes


def _event(event: TimelineEvent, y: int) -> list[Mark]:
    x = 20 + _STEP * event.depth
    match event.kind:
        case "function" | "loop" | "branch":
            line = f"  line {event.cause.line}" if event.cause is not None else ""
            place = f"  {place_text(event.cause)}" if event.kind == "function" else line
            return [SvgText(x, y + 4, _fit(f"{event.what}{place}", x), "name")]
        case "kernel":
            box = Box(_DEVICE - 8, y - 8, 16, 16, _COLORS["kernel"], round=3)
            return [box, SvgText(_DEVICE + 22, y + 4, event.what, "name")]
        case "wait":
            return [SvgText(_DEVICE + 22, y + 4, wait_text(event), "note")]
        case "data region":
            note = f"data region: {event.what}{measured_text(event.measured)}"
            return [SvgText(_DEVICE + 22, y + 4, note, "note")]
        case _:
            return _copy(event, x, y)


def _copy(event: TimelineEvent, x: int, y: int) -> list[Mark]:
    color = _COLORS[event.kind]
    start, end = (_HOST, _DEVICE) if event.kind == "to device" else (_DEVICE, _HOST)
    tip = end - 8 if end > start else end + 8
    dashes = "6 4" if event.when and not event.until else ""
    below = y + _ROW * event.until
    note = copy_note(event) + measured_text(event.measured)
    return [
        Line((start, y), (tip, below), color, "2", dashes),
        Head(f"M{end} {below} L{tip} {below - 5} L{tip} {below + 5} Z", color),
        SvgText((_HOST + _DEVICE) / 2, y - 4, _fit(event.what, _HOST - 190), "name", "middle"),
        SvgText(_DEVICE + 22, y + 4, note, "note"),
    ]


def _fit(text: str, x: int) -> str:
    """Cut a text that would leave its box."""
    room = max(8, (_HOST - 36 - x) // 8)
    return text if len(text) <= room else f"{text[: room - 1]}…"
