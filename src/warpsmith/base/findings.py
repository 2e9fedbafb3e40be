"""Findings and diagnostics: what warpsmith says about a place in the user's text, and how that looks.

heat.c:13:3: error[POR003] loop-carried flow dependence: not parallel
   |
13 |   for (t = 0; t < T; t++)
   |   ^^^^^^^^^^^^^^^^^^^^^^^
   = help: ...
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from warpsmith.base.source import Span, readable

__all__ = ["Certainty", "Finding", "Note", "Severity", "render_finding"]

Severity = Literal["error", "warning", "note"]
Certainty = Literal["proven", "conditional", "heuristic"]


@dataclass(frozen=True, slots=True)
class Note:
    """A second place that belongs to a finding, with its sentence."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: rule code, sentence, place, and what to do about it.

    `span` is None only for findings about the invocation itself (a missing file, a missing tool).
    """

    rule: str
    severity: Severity
    message: str
    span: Span | None = None
    help: tuple[str, ...] = ()
    related: tuple[Note, ...] = ()
    certainty: Certainty = "proven"
    assumptions: tuple[str, ...] = ()


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
    """Return the line of `place` with carets under it, tabs kept so that the carets line up."""
    span = place.span
    source = span.file.line(span.line)
    before = source[: span.column - 1]
    marked = source[span.column - 1 :] if span.end_line != span.line else source[span.column - 1 : span.end_column - 1]
    pad = "".join("\t" if c == "\t" else " " for c in readable(before))
    number = str(span.line)
    gutter = " " * len(number)
    carets = "^" * max(1, len(readable(marked.rstrip())))
    return [f"{gutter} |", f"{number} | {readable(source)}", f"{gutter} | {pad}{carets} {place.text}".rstrip()]
