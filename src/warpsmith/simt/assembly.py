"""Lines of assembly text: labels, an operation, operands between commas; and what is wrong with one, at its place.

LOOP:  v_add_u32_e32 v2, 1, v2    ; i++
label  operation     operands     comment
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span, plain_spaces

__all__ = ["AssemblyError", "AssemblyLine", "AssemblyWord", "split_assembly", "split_operands"]

_LABEL: Final = re.compile(r'\s*("[^"]*"|[\w.$@?]+)\s*:(?!:)')
_WORD: Final = re.compile(r"\s*([^\s,]+)")
_OPENING: Final = "([{"
_CLOSING: Final = ")]}"
_LONGEST: Final = 120
_MOST: Final = 16
"""Labels, and operands, of one line: what has more is no code."""


class AssemblyError(Exception):
    """A text is not what stands at its place."""

    def __init__(self, span: Span, message: str, *helps: str) -> None:
        super().__init__(message)
        said = message if len(message) <= _LONGEST else f"{message[:_LONGEST]}…"
        self.finding = Finding("ASM001", "error", said, span, helps)


class AssemblyWord(Struct, frozen=True):
    """A text and where it stands."""

    text: str
    span: Span


class AssemblyLine(Struct, frozen=True):
    """One line that says something; `operation` is None where it has labels alone, `rest` is what stands behind the
    operation."""

    labels: tuple[AssemblyWord, ...]
    operation: AssemblyWord | None
    rest: AssemblyWord
    whole: Span


def split_assembly(file: SourceFile, comments: Sequence[str]) -> Iterator[AssemblyLine]:
    """Yield the lines of a file that say something; `comments` begin comments, outside of strings."""
    ends = re.compile(r'"(?:[^"\\]|\\.)*"|(' + "|".join(map(re.escape, comments)) + ")")
    for number in range(1, file.line_count + 1):
        start, text = file.offset(number), _without_comment(plain_spaces(file.line(number)), ends)
        if text.strip():
            yield _line(file, start, text)


def _without_comment(text: str, ends: re.Pattern[str]) -> str:
    for found in ends.finditer(text):
        if found[1]:
            return text[: found.start()]
    return text


def _line(file: SourceFile, start: int, text: str) -> AssemblyLine:
    labels: list[AssemblyWord] = []
    at = 0
    while len(labels) < _MOST and (found := _LABEL.match(text, at)):
        place = Span(file, start + found.start(1), start + found.end(1))
        labels.append(AssemblyWord(found[1].strip('"'), place))
        at = found.end()
    first = len(text) - len(text.lstrip())
    whole = Span(file, start + first, start + len(text.rstrip()))
    word = _WORD.match(text, at)
    if word is None:
        return AssemblyLine(tuple(labels), None, AssemblyWord("", whole), whole)
    operation = AssemblyWord(word[1], Span(file, start + word.start(1), start + word.end(1)))
    behind = text[word.end() :]
    begin = word.end() + len(behind) - len(behind.lstrip())
    rest = AssemblyWord(behind.strip(), Span(file, start + begin, start + len(text.rstrip())))
    return AssemblyLine(tuple(labels), operation, rest, whole)


def split_operands(rest: AssemblyWord) -> Iterator[AssemblyWord]:
    """Yield what stands between commas, those in brackets left out; raises AssemblyError where nothing does."""
    text, start, file = rest.text, rest.span.start, rest.span.file
    if not text:
        return
    depth, first, count = 0, 0, 0
    for at, letter in enumerate(text + ","):
        depth += (letter in _OPENING) - (letter in _CLOSING)
        if letter != "," or (depth > 0 and at < len(text)):
            continue
        part = text[first:at]
        begin = start + first + len(part) - len(part.lstrip())
        words = part.strip()
        place = Span(file, begin, begin + max(1, len(words)))
        if not words:
            raise AssemblyError(place, "an operand is missing", "expected one before and behind each comma")
        count += 1
        if count > _MOST:
            raise AssemblyError(place, f"there are more than {_MOST} operands", "no instruction has so many")
        yield AssemblyWord(words, place)
        first = at + 1
