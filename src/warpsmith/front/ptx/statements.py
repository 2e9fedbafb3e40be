"""The text of a PTX file as statements: what ends in `;`, `{`, `}` or the `:` of a label.

    @%p1 bra $L__BB0_2;        Statement(kind="instruction", guard="%p1", words="bra $L__BB0_2")
    .reg .b32 %r<25>;          Statement(kind="directive", words=".reg .b32 %r<25>")
    .entry f( … ) {            kind="directive", then kind="open"

`.loc`, `.file`, `.section`, `.pragma` and the header's directives end with their line (PTX ISA 9.0, 11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

from msgspec import Struct

from warpsmith.base.source import SourceFile, Span

__all__ = ["PtxStatement", "statements"]

_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_LINE: Final = re.compile(r"\.(?:loc|file|version|target|address_size)\b(?:\"(?:\\.|[^\"\\\n])*\"|[^\n;])*")
_SECTION: Final = re.compile(r"\.section\s+[^{;]*\{[^}]*\}")
_LABEL: Final = re.compile(r"([A-Za-z_$%][\w$]*)\s*:(?!:)")
_INITIAL: Final = re.compile(r"=\s*\{")
_SPACE: Final = re.compile(r"\s*")
_GUARD: Final = re.compile(r"@(!?)\s*(%?[\w$]+)\s*")


class PtxStatement(Struct, frozen=True):
    """One statement; `words` is its text without comments, guard and `;`. `guard`: the predicate's register, with a `!`
    in front where the instruction runs when it is false."""

    kind: Literal["directive", "instruction", "label", "open", "close"]
    words: str
    span: Span
    guard: str = ""


def statements(file: SourceFile) -> Iterator[PtxStatement]:
    """Yield the statements of a PTX file; a text that ends within one yields what there is of it."""
    text = _COMMENT.sub(_blank, file.text)
    position, end = 0, len(text.rstrip("\0 \t\r\n"))
    while position < end:
        position = _SPACE.match(text, position).end()  # type: ignore[union-attr]
        if position >= end:
            return
        statement, position = _next(file, text, position)
        if statement is not None:
            yield statement


def _blank(found: re.Match[str]) -> str:
    """Return spaces for a comment; strings stay."""
    return found.group() if found.group().startswith('"') else re.sub(r"[^\n]", " ", found.group())


def _next(file: SourceFile, text: str, start: int) -> tuple[PtxStatement | None, int]:
    mark = text[start]
    if mark in "{}":
        kind: Literal["open", "close"] = "open" if mark == "{" else "close"
        return PtxStatement(kind, mark, Span(file, start, start + 1)), start + 1
    if mark == ";":
        return None, start + 1
    for pattern in (_SECTION, _LINE):
        if line := pattern.match(text, start):
            words = line.group().strip()
            end = line.end() + (text[line.end() : line.end() + 1] == ";")
            return PtxStatement("directive", words, Span(file, start, line.end())), end
    if label := _LABEL.match(text, start):
        return PtxStatement("label", label.group(1), Span(file, start, label.end())), label.end()
    end, after = _end(text, start)
    span = Span(file, start, end)
    if mark == ".":
        return PtxStatement("directive", text[start:end].strip(), span), after
    guard = _GUARD.match(text, start)
    words = text[guard.end() if guard else start : end].strip()
    return PtxStatement("instruction", words, span, guard.group(1) + guard.group(2) if guard else ""), after


def _end(text: str, start: int) -> tuple[int, int]:
    """Return where the statement's text ends and where the next starts: at `;`, or at a brace that is not its own."""
    position = start
    while position < len(text):
        mark = text[position]
        if mark == ";":
            return position, position + 1
        if mark == "}":
            return position, position
        if mark == "{":
            own = text[start] != "." or _INITIAL.search(text, start, position + 1) is not None
            if not own:
                return position, position
            position = _closing(text, position)
        position += 1
    return len(text), len(text)


def _closing(text: str, opening: int) -> int:
    """Return where the brace at `opening` is closed, at most the end of the text."""
    depth = 0
    for position in range(opening, len(text)):
        depth += (text[position] == "{") - (text[position] == "}")
        if depth == 0:
            return position
    return len(text) - 1
