"""Where things stand in a recipe's TOML: every table, key and value with its span.

    recipe = 1                    table ""      key recipe
    [[step]]                      table "step"
    name = "tile"                               key name       value "tile"
    sizes = [32, 8]                             key sizes      value [32, 8], items 32 and 8

Invariant: tomllib decides what is TOML and what a value is; this file only finds the places, in a text that uses no
more of TOML than recipes do: keys of one word, `[[step]]` tables, texts, numbers, and flat arrays. It runs first, so
that what takes tomllib quadratic time (dotted keys, nesting) never reaches it. Linear: no regular expression goes back.
"""

from __future__ import annotations

import re
import tomllib
from typing import NoReturn

from msgspec import Struct

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding, Note
from warpsmith.base.source import SourceFile, Span

__all__ = ["LONGEST_LINE", "RecipeEntry", "RecipeTable", "tables", "values"]

LONGEST_LINE = 4000
_MARK = "\xef\xbb\xbf"

_TRIVIA = re.compile(r"(?:[ \t\r\n]|#[^\n]*+)*+")
_KEY = re.compile(r"""[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\[^\n])*+"|'[^'\n]*+'""")
_HEADER = re.compile(r"\[\[?+[ \t]*+")
_TEXTS = re.compile(
    r'''"""(?:[^"\\]|\\.|"(?!""))*+"{3,5}+'''
    r"""|'{3}(?:[^']|'(?!''))*+'{3,5}+"""
    r'''|"(?:[^"\\\n]|\\[^\n])*+"'''
    r"""|'[^'\n]*+'""",
    re.DOTALL,
)
_PLAIN = re.compile(r"[^\s,\]\[{}#=\"']++")
_END = re.compile(r"[ \t]*+(?:#[^\n]*+)?+(?:\r?\n|\Z)")
_BLANKS = re.compile(r"[ \t]*+")
_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$| \(at end of document\)$")


class RecipeEntry(Struct, frozen=True):
    """One `key = value`; `items` are the elements of an array."""

    key: str
    place: Span
    value: Span
    items: tuple[Span, ...] = ()


class RecipeTable(Struct, frozen=True):
    """A table with its entries in order; the one before the first header has no name and no `header`."""

    name: str
    header: Span | None
    array: bool
    entries: tuple[RecipeEntry, ...]

    def entry(self, key: str) -> RecipeEntry | None:
        """Return the entry of a key."""
        return next((entry for entry in self.entries if entry.key == key), None)


def tables(file: SourceFile) -> tuple[RecipeTable, ...]:
    """Return the tables of a recipe in order, the nameless one first; raises UsageError (RCP001, RCP002) at the first
    place that is no TOML or uses more of it than recipes do."""
    _check_lines(file)
    scan = _Scan(file, len(_MARK) if file.text.startswith(_MARK) else 0)
    made: list[RecipeTable] = []
    name, header, array = "", None, False
    entries: dict[str, RecipeEntry] = {}
    while scan.more():
        if not scan.at("["):
            scan.add_entry(entries)
            continue
        made.append(RecipeTable(name, header, array, tuple(entries.values())))
        entries = {}
        name, header, array = scan.header()
    return (*made, RecipeTable(name, header, array, tuple(entries.values())))


def _check_lines(file: SourceFile) -> None:
    start = 0
    for line in file.text.split("\n"):
        if len(line) > LONGEST_LINE:
            text = f"a line of {len(line)} bytes; a recipe's lines have at most {LONGEST_LINE}"
            raise UsageError(Finding("RCP001", "error", text, Span(file, start, start + 40), ("break the line",)))
        start += len(line) + 1


class _Scan(Struct):
    """A place in the text that only moves on."""

    file: SourceFile
    position: int

    def more(self) -> bool:
        """Go on to the next statement, if there is one."""
        self._skip(_TRIVIA)
        return self.position < len(self.file.text)

    def at(self, text: str) -> bool:
        return self.file.text.startswith(text, self.position)

    def header(self) -> tuple[str, Span, bool]:
        """Take `[name]` or `[[name]]`."""
        start = self.position
        array = self.at("[[")
        self._skip(_HEADER)
        name, _ = self._key()
        closing = "]]" if array else "]"
        if not self.at(closing):
            self._wrong()
        self.position += len(closing)
        span = Span(self.file, start, self.position)
        self._end()
        return name, span, array

    def add_entry(self, entries: dict[str, RecipeEntry]) -> None:
        """Take `key = value` and add it; a key may stand only once in its table."""
        name, place = self._key()
        if not self.at("="):
            self._wrong()
        self.position += 1
        self._skip(_BLANKS)
        if name in entries:
            earlier = (Note(entries[name].place, "first here"),)
            raise UsageError(Finding("RCP002", "error", f"the key {name} stands twice", place, related=earlier))
        start = self.position
        items = self._array() if self.at("[") else ()
        if start == self.position:
            self._value()
        entries[name] = RecipeEntry(name, place, Span(self.file, start, self.position), items)
        self._end()

    def _key(self) -> tuple[str, Span]:
        found = _KEY.match(self.file.text, self.position)
        if found is None:
            self._wrong()
        span = Span(self.file, *found.span())
        self.position = found.end()
        self._skip(_BLANKS)
        if self.at("."):
            self._refuse_unused("dotted keys", Span(self.file, span.start, self.position + 1))
        return self._word(span), span

    def _word(self, span: Span) -> str:
        """Return a key without its quotes."""
        if span.text[0] not in "\"'":
            return span.text
        try:
            (word,) = tomllib.loads(f"{_unicode(span.text)} = 0")
        except (ValueError, RecursionError):
            self.position = span.start
            self._wrong()
        return str(word).encode("utf-8", "replace").decode("latin-1")

    def _array(self) -> tuple[Span, ...]:
        self.position += 1
        items: list[Span] = []
        while True:
            self._skip(_TRIVIA)
            if self.at("]"):
                self.position += 1
                return tuple(items)
            if self.at("["):
                self._refuse_unused("lists in lists", Span(self.file, self.position, self.position + 1))
            items.append(self._value())
            self._skip(_TRIVIA)
            if self.at(","):
                self.position += 1
            elif not self.at("]"):
                self._wrong()

    def _value(self) -> Span:
        if self.at("{"):
            self._refuse_unused("inline tables", Span(self.file, self.position, self.position + 1))
        found = _TEXTS.match(self.file.text, self.position) or _PLAIN.match(self.file.text, self.position)
        if found is None:
            self._wrong()
        self.position = found.end()
        return Span(self.file, *found.span())

    def _end(self) -> None:
        found = _END.match(self.file.text, self.position)
        if found is None:
            self._wrong()
        self.position = found.end()

    def _skip(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self.file.text, self.position)
        if found is not None:
            self.position = found.end()

    def _refuse_unused(self, what: str, span: Span) -> NoReturn:
        help = 'a step is written as [[step]] with lines such as name = "tile"'
        raise UsageError(Finding("RCP002", "error", f"recipes use no {what}", span, (help,)))

    def _wrong(self) -> NoReturn:
        """Raise what tomllib has to say of the text up to this line."""
        end = self.file.text.find("\n", self.position)
        raise _syntax_error(self.file, len(self.file.text) if end < 0 else end, self.position)


def values(file: SourceFile) -> dict[str, object]:
    """Return what tomllib reads in a text that `tables` takes; raises UsageError (RCP001)."""
    try:
        return tomllib.loads(_unicode(file.text))
    except (ValueError, RecursionError):
        raise _syntax_error(file, len(file.text), 0) from None


def _syntax_error(file: SourceFile, end: int, suspect: int) -> UsageError:
    """Return the error that tomllib finds in the first `end` bytes; at `suspect` where it
    says no place or finds none."""
    text, message, position = _unicode(file.text[:end]), "this is not TOML", suspect
    try:
        tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        message = str(error)
        found = _PLACE.search(message)
        message = _PLACE.sub("", message)
        if found is not None and found[1] is not None:
            position = _offset(file, int(found[1]), int(found[2]))
    position = min(position, max(0, len(file.text) - 1))
    words = message[:1].lower() + message[1:200]
    help = "a recipe is TOML: https://toml.io"
    return UsageError(Finding("RCP001", "error", words, Span(file, position, position + 1), (help,)))


def _offset(file: SourceFile, line: int, column: int) -> int:
    """Return the byte of a place that counts characters."""
    before = _unicode(file.line(line))[: column - 1]
    mark = len(_MARK) if line == 1 and file.text.startswith(_MARK) else 0
    return file.offset(line) + mark + len(before.encode("utf-8", "replace"))


def _unicode(text: str) -> str:
    """Return text held as Latin-1 as the characters that it stands for, without a byte order mark."""
    return text.encode("latin-1").decode("utf-8", "replace").removeprefix("\ufeff")
