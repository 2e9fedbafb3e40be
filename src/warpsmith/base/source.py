"""Source files, spans and text edits.

Invariant: a file's text is its bytes read as Latin-1, so an offset into the text *is* a byte offset, every
byte sequence (CRLF, tabs, a BOM, Latin-1, broken UTF-8) survives a round trip, and an edit can never disturb a
byte outside its span. `readable` turns a piece of text back into what a person should see.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import force_setattr

__all__ = ["Edit", "SourceFile", "Span", "apply_edits", "decode_text", "one_line", "plain_spaces", "readable"]


_ESCAPES = {code: repr(chr(code))[1:-1] for code in (*range(32), 127)}


def readable(text: str) -> str:
    """Return Latin-1-held `text` as the user's editor shows it (UTF-8 where it is valid)."""
    return text.encode("latin-1", "replace").decode("utf-8", "replace")


def plain_spaces(text: str) -> str:
    """Return text with the spaces of web pages (U+00A0, U+3000) as blanks, one for each byte: offsets stay.

    >>> plain_spaces(decode_text("a\N{NO-BREAK SPACE}b"))
    'a  b'
    """
    return text.replace("\xc2\xa0", "  ").replace("\xe3\x80\x80", "   ")


def one_line(path: str) -> str:
    """Return a path as one line of a report has it: a line feed of its name is an escape."""
    return path.translate(_ESCAPES)


def decode_text(text: str) -> str:
    """Return a name or a sentence as the text of a source file holds it: one character a byte.

    Bytes of a path that are no UTF-8 (Python has them as lone surrogates) come back as they are on the disk.
    """
    return text.encode("utf-8", "surrogateescape").decode("latin-1")


def _line_starts(text: str) -> tuple[int, ...]:
    starts = [0]
    position = text.find("\n")
    while position != -1:
        starts.append(position + 1)
        position = text.find("\n", position + 1)
    return tuple(starts)


class SourceFile(Struct, frozen=True, eq=False):
    """One file as the user named it; `text` holds one character for each byte."""

    path: str
    text: str
    _starts: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        force_setattr(self, "_starts", _line_starts(self.text))

    @classmethod
    def read(cls, path: str) -> SourceFile:
        """Read `path`; raises OSError as the file system gives it."""
        return cls(path, Path(path).read_bytes().decode("latin-1"))

    def data(self) -> bytes:
        """Return the bytes of the file."""
        return self.text.encode("latin-1")

    def location(self, offset: int) -> tuple[int, int]:
        """Return (line, column) of a byte offset, both counted from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def offset(self, line: int) -> int:
        """Return the offset at which `line` (from 1) starts; the end of the file past its last line."""
        return self._starts[line - 1] if line <= len(self._starts) else len(self.text)

    def line(self, number: int) -> str:
        """Return the text of line `number` (from 1) without its line end."""
        start, end = self.offset(number), self.offset(number + 1)
        return self.text[start:end].rstrip("\r\n")

    @property
    def line_count(self) -> int:
        """How many lines the file has."""
        return len(self._starts)


class Span(Struct, frozen=True):
    """The half-open byte range [start, end) of a file."""

    file: SourceFile
    start: int
    end: int

    @property
    def text(self) -> str:
        """The source slice, one character a byte."""
        return self.file.text[self.start : self.end]

    @property
    def line(self) -> int:
        """Line of the first byte, from 1."""
        return self.file.location(self.start)[0]

    @property
    def column(self) -> int:
        """Column of the first byte, from 1."""
        return self.file.location(self.start)[1]

    @property
    def end_line(self) -> int:
        """Line of the last byte, from 1."""
        return self.file.location(max(self.start, self.end - 1))[0]

    @property
    def end_column(self) -> int:
        """Column just past the last byte, from 1."""
        return self.file.location(max(self.start, self.end - 1))[1] + (1 if self.end > self.start else 0)

    def contains(self, other: Span) -> bool:
        """Whether `other` lies inside this span."""
        return self.file is other.file and self.start <= other.start and other.end <= self.end

    def __str__(self) -> str:
        return f"{one_line(self.file.path)}:{self.line}:{self.column}"


class Edit(Struct, frozen=True):
    """Replace the text of `span` by `text`; an empty span inserts."""

    span: Span
    text: str


def apply_edits(file: SourceFile, edits: Iterable[Edit], join: Callable[[Iterable[str]], str] = "".join) -> str:
    """Return the file's text with `edits` applied; edits at one place keep their order. `join` puts the pieces together
    that stay and that are written.

    Raises ValueError when two edits overlap: whoever made them disagreed about who owns the text.
    """
    pieces: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda e: (e.span.start, e.span.end)):
        if edit.span.start < position:
            raise ValueError(f"overlapping edits at {edit.span}")
        pieces += [file.text[position : edit.span.start], edit.text]
        position = edit.span.end
    return join([*pieces, file.text[position:]])
