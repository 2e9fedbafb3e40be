"""The timeline as one picture: time runs down, the host on the left, the device on the right, an arrow for each copy.

Loops and functions are boxes around what happens inside; a hold is a shaded band: what is on the device stays there.
The file stands alone: no script, no font of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from warpsmith.report.timeline.events import Event
from warpsmith.report.timeline.text import copy_note, measured_text, place_text

__all__ = ["timeline_svg"]

_ROW, _TOP, _STEP = 26, 64, 16
_HOST, _DEVICE, _WIDTH = 430, 640, 1720
_COLORS = {"to device": "#1a6fb5", "to host": "#b5541a", "pause": "#a01540", "kernel": "#2b7a3d"}
_STYLE = (
    "text{font:13px ui-monospace,Menlo,Consolas,monospace;fill:#222}"
    ".head{font-weight:600;font-size:15px}.note{fill:#555}.name{font-weight:600}"
)


def timeline_svg(events: Sequence[Event], title: str) -> str:
    """Return the picture as SVG text."""
    height = _TOP + _ROW * (len(events) + 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(title)}">',
        f"<style>{_STYLE}</style>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        _text(16, 26, title, "head"),
        *_holds(events),
        *_boxes(events),
        *_lanes(height),
    ]
    for row, event in enumerate(events):
        parts += _event(event, _y(row))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _y(row: int) -> int:
    return _TOP + _ROW * row + _ROW // 2


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>'


def _lanes(height: int) -> list[str]:
    lines = []
    for x, name in ((_HOST, "host"), (_DEVICE, "device")):
        lines.append(f'<line x1="{x}" y1="{_TOP - 6}" x2="{x}" y2="{height - 8}" stroke="#888" stroke-width="1.5"/>')
        lines.append(_text(x, _TOP - 14, name, "name", "middle"))
    return lines


def _holds(events: Sequence[Event]) -> list[str]:
    """Return a band for each hold, from its begin to its end."""
    bands: list[str] = []
    opened: list[int] = []
    for row, event in enumerate(events):
        if event.kind != "hold":
            continue
        if not event.bytes:
            opened.append(row)
        elif opened:
            first = opened.pop()
            y, tall = _y(first), _ROW * (row - first)
            bands.append(f'<rect x="{_DEVICE - 14}" y="{y}" width="28" height="{tall}" fill="#d9ecd9"/>')
    return bands


def _boxes(events: Sequence[Event]) -> list[str]:
    """Return a frame for each function, loop and branch around the events that are deeper."""
    boxes: list[str] = []
    for row, event in enumerate(events):
        if event.kind not in ("function", "loop", "branch"):
            continue
        last = row
        while last + 1 < len(events) and events[last + 1].depth > event.depth:
            last += 1
        x = 12 + _STEP * event.depth
        y, tall = _y(row) - _ROW // 2 + 2, _ROW * (last - row + 1) - 4
        dash = ' stroke-dasharray="4 3"' if event.kind == "branch" else ""
        fill = "#eef2fb" if event.kind == "loop" else "none"
        width = _HOST - 26 - x
        look = f'rx="4" fill="{fill}" stroke="#9aa5bb"{dash}'
        boxes.append(f'<rect x="{x}" y="{y}" width="{width}" height="{tall}" {look}/>')
    return boxes


def _event(event: Event, y: int) -> list[str]:
    x = 20 + _STEP * event.depth
    match event.kind:
        case "function" | "loop" | "branch":
            line = f"  line {event.cause.line}" if event.cause is not None else ""
            place = f"  {place_text(event.cause)}" if event.kind == "function" else line
            return [_text(x, y + 4, _fit(f"{event.what}{place}", x), "name")]
        case "kernel":
            color = _COLORS["kernel"]
            box = f'<rect x="{_DEVICE - 8}" y="{y - 8}" width="16" height="16" rx="3" fill="{color}"/>'
            return [box, _text(_DEVICE + 22, y + 4, event.what, "name")]
        case "hold":
            note = f"hold: {event.what}{measured_text(event.measured)}"
            return [_text(_DEVICE + 22, y + 4, note, "note")]
        case _:
            return _copy(event, x, y)


def _copy(event: Event, x: int, y: int) -> list[str]:
    color = _COLORS[event.kind]
    start, end = (_HOST, _DEVICE) if event.kind == "to device" else (_DEVICE, _HOST)
    tip = end - 8 if end > start else end + 8
    dash = ' stroke-dasharray="6 4"' if event.when else ""
    note = copy_note(event) + measured_text(event.measured)
    return [
        f'<line x1="{start}" y1="{y}" x2="{tip}" y2="{y}" stroke="{color}" stroke-width="2"{dash}/>',
        f'<path d="M{end} {y} L{tip} {y - 5} L{tip} {y + 5} Z" fill="{color}"/>',
        _text((_HOST + _DEVICE) / 2, y - 4, _fit(event.what, _HOST - 190), "name", "middle"),
        _text(_DEVICE + 22, y + 4, note, "note"),
    ]


def _fit(text: str, x: int) -> str:
    """Cut a text that would leave its box."""
    room = max(8, (_HOST - 36 - x) // 8)
    return text if len(text) <= room else f"{text[: room - 1]}…"
