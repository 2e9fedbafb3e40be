"""A line of IL as words: its opcode with controls in parentheses, and its operands, split at commas.

sample_resource(0)_sampler(1) r5, v0.x000
word "sample_resource", controls ("", "0") ("sampler", "1"), operands "r5" and "v0.x000", each with its place
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span, plain_spaces

__all__ = ["IlControl", "IlLine", "IlTextError", "IlWord", "split_line", "split_lines"]

_COMMENT: Final = re.compile(r";|//")
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_LONGEST: Final = 120
_CONTROL: Final = re.compile(r"\(([^()]*)\)(_\w+)?")


class IlTextError(Exception):
    """A text is not what stands at its place."""

    def __init__(self, span: Span, message: str, *helps: str) -> None:
        super().__init__(message)
        said = message if len(message) <= _LONGEST else f"{message[:_LONGEST]}…"
        self.finding = Finding("ILT001", "error", said, span, helps)


class IlWord(Struct, frozen=True):
    """A text and where it stands."""

    text: str
    span: Span


class IlControl(Struct, frozen=True):
    """What stands in parentheses behind `name`; the first one has no name of its own."""

    name: str
    value: str


class IlLine(Struct, frozen=True):
    """One line that is not empty."""

    word: str
    controls: tuple[IlControl, ...]
    operands: tuple[IlWord, ...]
    place: Span
    whole: Span


def split_lines(file: SourceFile) -> Iterator[tuple[int, str]]:
    """Yield the offset and the text of each line that says something."""
    for number in range(1, file.line_count + 1):
        text = plain_spaces(file.line(number))
        comment = _COMMENT.search(text)
        text = text[: comment.start()] if comment else text
        if text.strip():
            yield file.offset(number) + len(text) - len(text.lstrip()), text.strip()


def split_line(file: SourceFile, start: int, text: str) -> IlLine:
    """Return the words of a line; raises IlTextError."""
    found = _NAME.match(text)
    if found is None:
        place = Span(file, start, start + 1)
        raise IlTextError(place, f"'{text[0]}' begins no line", "expected a declaration or an instruction")
    word, at = found[0], found.end()
    controls: list[IlControl] = []
    name = ""
    while at < len(text) and text[at] == "(":
        control = _CONTROL.match(text, at)
        if control is None:
            raise IlTextError(Span(file, start + at, start + at + 1), "'(' is not closed", "expected ')'")
        controls.append(IlControl(name, control[1].strip()))
        name, at = (control[2] or "")[1:], control.end()
    place = Span(file, start, start + at)
    if name:
        raise IlTextError(place, f"'{name}' says nothing in parentheses", f"expected {name}(…)")
    if at < len(text) and not text[at].isspace():
        wrong = Span(file, start + at, start + at + 1)
        raise IlTextError(wrong, f"'{text[at]}' cannot stand in an opcode", "expected a space behind the opcode")
    operands = tuple(_operands(file, start, text, at))
    return IlLine(word, tuple(controls), operands, place, Span(file, start, start + len(text)))


def _operands(file: SourceFile, start: int, text: str, at: int) -> Iterator[IlWord]:
    if not text[at:].strip():
        return
    first = at
    for part in text[at:].split(","):
        begin = first + len(part) - len(part.lstrip())
        words = part.strip()
        place = Span(file, start + begin, start + begin + max(1, len(words)))
        if not words:
            raise IlTextError(place, "an operand is missing", "expected a register before or behind the comma")
        yield IlWord(words, place)
        first += len(part) + 1
