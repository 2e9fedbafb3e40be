"""The timeline as text: one line an event, indented as it is nested."""

from __future__ import annotations

import re
from collections.abc import Iterable

from warpsmith.base.source import Span, readable
from warpsmith.report.timeline.events import MovedBytes, TimelineEvent

__all__ = ["bytes_text", "copy_note", "measured_text", "place_text", "timeline_text", "wait_text"]

_LONGEST_BYTES = 60
_BYTES = {"char": 1, "short": 2, "int": 4, "float": 4, "long": 8, "double": 8}
_SIZE = re.compile(rf"sizeof\((?:const )?({'|'.join(_BYTES)})\)")


def timeline_text(events: Iterable[TimelineEvent]) -> str:
    """Return the whole timeline."""
    return "\n".join(["timeline", *(f"  {'  ' * event.depth}{_line(event)}" for event in events)])


def _line(event: TimelineEvent) -> str:
    match event.kind:
        case "function":
            return f"{event.what} ({place_text(event.cause)}){_note(event)}"
        case "loop" | "branch":
            return f"{event.what}  line {event.cause.line}" if event.cause is not None else event.what
        case "kernel":
            return event.what
        case "wait":
            return wait_text(event)
        case "data region":
            return f"data region: {event.what}{measured_text(event.measured)}"
        case _:
            arrow = "-> device" if event.kind == "to device" else "-> host"
            return f"{event.what} {arrow}  {copy_note(event)}{measured_text(event.measured)}"


def _note(event: TimelineEvent) -> str:
    return f", {event.when}" if event.when else ""


def wait_text(event: TimelineEvent) -> str:
    """Return who waits for which copies."""
    return f"{'the host waits' if event.waiting == 'host' else 'kernels wait'} for {event.what}"


def copy_note(event: TimelineEvent) -> str:
    """Return what forces a copy, how much it moves, and when."""
    line = f"for line {event.cause.line}" if event.cause is not None else ""
    return ", ".join(note for note in (line, bytes_text(event.bytes), event.when) if note)


def bytes_text(text: str) -> str:
    """Return a count of bytes as a person would write it."""
    text = _SIZE.sub(lambda found: str(_BYTES[found[1]]), readable(text))
    short = text if len(text) <= _LONGEST_BYTES else f"{text[: _LONGEST_BYTES - 4].rstrip()} ..."
    return short if "all" in short.split() else f"{short} bytes"


def place_text(span: Span | None) -> str:
    """Return `file:line`."""
    return "" if span is None else f"{span.file.path.replace(chr(92), '/').rsplit('/', 1)[-1]}:{span.line}"


def measured_text(moved: MovedBytes | None) -> str:
    """Return what a run counted, labelled."""
    if moved is None:
        return ""
    return f"  [measured: {moved.count} x, {moved.bytes} bytes]"
