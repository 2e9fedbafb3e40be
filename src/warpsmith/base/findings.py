"""Findings and diagnostics: what warpsmith says about a place in the user's text, and how that looks.

heat.c:13:3: error[POR003] loop-carried flow dependence: not parallel
   |
13 |   for (t = 0; t < T; t++)
   |   ^^^^^^^^^^^^^^^^^^^^^^^
   = help: ...
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from warpsmith.base.source import Span, readable

__all__ = ["Certainty", "Finding", "Note", "Severity", "marked_line", "printable", "render_finding"]

Severity = Literal["error", "warning", "note"]
Certainty = Literal["proven", "witnessed", "conditional", "heuristic"]


class Note(Struct, frozen=True):
    """A second place that belongs to a finding, with its sentence."""

    span: Span
    text: str


class Finding(Struct, frozen=True):
    """One finding: rule code, sentence, place, and what to do about it.

    `span` is None only for findings about the invocation itself (a missing file, a missing tool). What rests on
    `assumptions` is not proven.
    """

    rule: str
    severity: Severity
    message: str
    span: Span | None = None
    help: tuple[str, ...] = ()
    related: tuple[Note, ...] = ()
    certainty: Certainty = "proven"
    assumptions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.assumptions and self.certainty in ("proven", "witnessed"):
            raise ValueError(f"{self.rule} rests on assumptions: it is conditional")


def render_finding(finding: Finding) -> str:
    """Return the finding as text with its source line and a caret under its span."""
    head = f"{finding.severity}[{finding.rule}] {finding.message}"
    lines = [head if finding.span is None else f"{finding.span}: {head}"]
    places = [Note(finding.span, "")] if finding.span is not None else []
    for place in [*places, *finding.related]:
        lines += _excerpt(place)
    lines += [f"   = assumes: {text}" for text in finding.assumptions]
    lines += [f"   = help: {text}" for text in finding.help]
    return "\n".join(lines)


def _excerpt(place: Note) -> list[str]:
    """Return the line of `place` with carets under it."""
    number = str(place.span.line)
    gutter = " " * len(number)
    shown, carets = marked_line(place.span)
    return [f"{gutter} |", f"{number} | {shown}", f"{gutter} | {carets} {place.text}".rstrip()]


_BLANKS = " \t\r\n\f\v"
"""Bytes that are blanks: others may be a part of a letter."""
_SPACES = {0xA0: " ", 0x3000: " "}
_WIDE, _BEFORE = 240, 80


def marked_line(span: Span) -> tuple[str, str]:
    """Return the line that a span begins in, and the carets that stand under it, tabs kept so that they line up.

    Of a very long line only the part around the span is shown.
    """
    source = span.file.line(span.line)
    start = span.column - 1
    end = len(source.rstrip(_BLANKS)) if span.end_line != span.line else min(span.end_column - 1, len(source))
    first = start - _BEFORE if len(source) > _WIDE and start > _BEFORE else 0
    last = first + _WIDE if len(source) > _WIDE else len(source)
    before, marked = source[first:start], source[start : min(max(start, end), last)].rstrip(_BLANKS)
    shown = f"{'…' if first else ''}{printable(source[first:last])}{'…' if last < len(source) else ''}"
    pad = "".join("\t" if letter == "\t" else " " for letter in printable(before))
    return shown.rstrip(), f"{' ' if first else ''}{pad}{'^' * max(1, len(printable(marked)))}"


def printable(text: str) -> str:
    """Return source text without what a terminal would take for commands, spaces of web pages as blanks."""
    shown = readable(text).translate(_SPACES)
    return "".join(letter if letter.isprintable() or letter == "\t" else "�" for letter in shown)
