"""Text that is added to a user's file behind `#ifdef WARPSMITH`, and how it is distinguished again.

    #ifdef WARPSMITH
        if (ws_on()) { … } else                 whole lines
    #endif
        for (…) …
    for (…) {
    #ifdef WARPSMITH                            a line of the user's had to be split:
        …
    #endif /* WARPSMITH: the line goes on */    then this says so
     a = 1; }

Invariant: taking every addition out gives the user's bytes. Of additions at one place, what closes stands before what
opens, inner statements close first, outer ones open first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from warpsmith.base.source import Edit, SourceFile, Span
from warpsmith.tree.text.layout import indent_text, line_end, wrap
from warpsmith.tree.text.lexical import directives
from warpsmith.tree.text.places import InsertionPoint

__all__ = ["MACRO", "Addition", "additions", "as_edits", "remove_additions", "wrap_in_ifdef"]

MACRO = "WARPSMITH"
"""What a build for the GPU defines."""

_OPEN, _CLOSE = f"#ifdef {MACRO}\n", "#endif\n"
_SPLIT = f"#endif /* {MACRO}: the line goes on */\n"
_MEET = re.compile(rf"#endif(?: /\* {MACRO}: the line goes on \*/)?\n\n?#ifdef {MACRO}\n")


class Addition(Struct, frozen=True):
    """`lines` at `place`, which belong to the user's text [start, end): before it, or behind it (`closes`)."""

    place: InsertionPoint
    lines: tuple[str, ...]
    start: int
    end: int
    closes: bool


def wrap_in_ifdef(lines: Sequence[str]) -> str:
    """Return lines behind `#ifdef`."""
    return _OPEN + "".join(f"{line}\n" for line in lines) + _CLOSE


def as_edits(file: SourceFile, added: Sequence[Addition]) -> list[Edit]:
    """Return one edit a place; additions that meet share one conditional."""
    together: dict[int, list[Addition]] = {}
    for one in added:
        together.setdefault(one.place.offset, []).append(one)
    end = line_end(file.text)
    result = []
    for offset, group in together.items():
        group.sort(key=lambda one: (not one.closes, -one.start if one.closes else -one.end))
        text = _MEET.sub("", "".join(map(_text, group)))
        result.append(Edit(Span(file, offset, offset), text.replace("\n", end)))
    return result


def _text(one: Addition) -> str:
    indent = one.place.indent
    lines = (_indent_lines(line, indent) for line in one.lines)
    text = wrap_in_ifdef(list(lines))
    return "\n" + text[: -len(_CLOSE)] + _SPLIT if one.place.splits else text


def _indent_lines(line: str, indent: str) -> str:
    """Return a line, or several, as they stand at `indent`; the preprocessor's own lines start at the margin."""
    if line.startswith(("#define", "#undef", "#if", "#error", "#endif")):
        return line
    return indent + indent_text(line if "\n" in line else wrap(line), indent)


def remove_additions(text: str) -> str:
    """Return the user's text again: what was added is taken out."""
    kept: list[str] = []
    position = 0
    for start, added in additions(text):
        kept.append(text[position:start])
        position = start + len(added)
    return "".join([*kept, text[position:]])


def additions(text: str) -> Iterator[tuple[int, str]]:
    """Yield what was added, each with its offset; where a line was split, the line end before it too."""
    mark = 3 if text.startswith("\xef\xbb\xbf") else 0
    depth = start = 0
    for directive in directives(text):
        line = text[directive.start : directive.end].rstrip("\r")
        if not depth:
            if line == _OPEN.rstrip():
                depth, start = 1, max(mark, text.rfind("\n", 0, directive.start) + 1)
            continue
        depth += (directive.word in ("if", "ifdef", "ifndef")) - (directive.word == "endif")
        if depth:
            continue
        stop = text.find("\n", directive.end)
        stop = len(text) if stop == -1 else stop + 1
        if line == _SPLIT.rstrip():
            start -= 2 if text[:start].endswith("\r\n") else 1
        yield start, text[start:stop]
