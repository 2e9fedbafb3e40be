"""The text of a file seen lexically: its punctuation and its preprocessor lines, comments and strings left out.

clang's tree has no semicolons, no pragmas and no `#if` lines, and drops the empty parts of `for (;;)`: those are
found here, in one pass over the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import pairwise
from typing import Final

from msgspec import Struct

from warpsmith.base.source import SourceFile

__all__ = ["CONDITIONALS", "Directive", "ForHeader", "Scan", "bare"]

CONDITIONALS: Final = frozenset({"if", "ifdef", "ifndef", "elif", "else", "endif", "elifdef", "elifndef"})

_COMMENT = r"/\*.*?(?:\*/|\Z)|//(?:\\\r?\n|[^\n])*"
_STRING = r'"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])*'"
_DIRECTIVE = r"(?:(?<=\n)|\A(?:\xef\xbb\xbf)?)[ \t]*\#(?:/\*.*?\*/|//(?:\\\r?\n|[^\n])*|\\\r?\n|[^\n])*"
_OPERATOR = r'\b_Pragma\s*\(\s*"(?:\\.|[^"\\])*"\s*\)'
_TOKEN = re.compile(rf"({_COMMENT})|({_STRING})|({_DIRECTIVE})|([()\[\]{{}};,])|({_OPERATOR})", re.DOTALL)
_SPACE = re.compile(rf"(?:\s|{_COMMENT}|\\\r?\n)*", re.DOTALL)
_NOISE = re.compile(rf"{_COMMENT}|\s+|\\\r?\n", re.DOTALL)
_WORD = re.compile(r"[ \t\xef\xbb\xbf]*#\s*([A-Za-z_]*)")
_OPENING, _CLOSING = "([{", ")]}"


def bare(text: str) -> str:
    """Return `text` without comments and white space."""
    return _NOISE.sub("", text)


class Directive(Struct, frozen=True):
    """A preprocessor line: `word` is its keyword, [start, end) goes from `#` to the end of the (continued) line."""

    word: str
    start: int
    end: int


class ForHeader(Struct, frozen=True):
    """Offsets of the parts of `for (…; …; …)`: the parentheses and the two semicolons."""

    opening: int
    first: int
    second: int
    closing: int


class Scan(Struct, frozen=True):
    """The marks of one file: offsets and characters of its punctuation, and its preprocessor lines."""

    file: SourceFile
    offsets: tuple[int, ...]
    characters: str
    directives: tuple[Directive, ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, file: SourceFile) -> Scan:
        """Scan the text of `file`."""
        offsets: list[int] = []
        characters: list[str] = []
        directives: list[Directive] = []
        for found in _TOKEN.finditer(file.text):
            group = found.lastindex
            if group == 4:
                offsets.append(found.start())
                characters.append(found.group())
            elif group == 3:
                text = found.group().rstrip()
                word = _WORD.match(text)
                start = found.start() + found.group().index("#")
                directives.append(Directive(word.group(1) if word else "", start, found.start() + len(text)))
            elif group == 5:
                directives.append(Directive("pragma", found.start(), found.end()))
        starts = tuple(d.start for d in directives)
        return cls(file, tuple(offsets), "".join(characters), tuple(directives), starts)

    def skip(self, offset: int) -> int:
        """Return the offset of the next byte that is neither white space nor in a comment."""
        found = _SPACE.match(self.file.text, offset)
        return found.end() if found else offset

    def after_semicolon(self, offset: int) -> int | None:
        """Return the offset past the `;` that comes next after `offset`, or None where something else comes."""
        place = self.skip(offset)
        return place + 1 if self.file.text[place : place + 1] == ";" else None

    def closing(self, opening: int) -> int | None:
        """Return the offset of the bracket that closes the one at `opening`."""
        number = bisect_left(self.offsets, opening)
        depth = 0
        for position in range(number, len(self.offsets)):
            character = self.characters[position]
            if character in _OPENING:
                depth += 1
            elif character in _CLOSING:
                depth -= 1
                if depth == 0:
                    return self.offsets[position]
        return None

    def for_header(self, start: int) -> ForHeader | None:
        """Return the parts of the `for` that starts at `start`; None where the text is not a plain `for (…;…;…)`."""
        if self.file.text[start : start + 3] != "for":
            return None
        opening = self.skip(start + 3)
        closing = self.closing(opening) if self.file.text[opening : opening + 1] == "(" else None
        if closing is None:
            return None
        depth, semicolons = 0, []
        for number in range(bisect_left(self.offsets, opening), bisect_left(self.offsets, closing)):
            character = self.characters[number]
            depth += (character in _OPENING) - (character in _CLOSING)
            if character == ";" and depth == 1:
                semicolons.append(self.offsets[number])
        return ForHeader(opening, semicolons[0], semicolons[1], closing) if len(semicolons) == 2 else None

    def lines(self, start: int, end: int) -> tuple[Directive, ...]:
        """Return the preprocessor lines that start in [start, end)."""
        return self.directives[bisect_left(self.starts, start) : bisect_left(self.starts, end)]

    def conditional(self, start: int, end: int) -> bool:
        """Whether a preprocessor conditional starts in [start, end)."""
        return any(d.word in CONDITIONALS for d in self.lines(start, end))

    def end_of_conditional(self, line: Directive, limit: int) -> int:
        """Return where the conditional that `line` belongs to ends; `limit` where its `#endif` is not before it."""
        depth = 0 if line.word.startswith("if") else 1
        for other in self.lines(line.start, limit):
            depth += (other.word in ("if", "ifdef", "ifndef")) - (other.word == "endif")
            if depth <= 0:
                return other.end
        return limit

    def is_empty_conditional(self, line: Directive, lower: int, limit: int) -> bool:
        """Whether the conditional that `line` belongs to starts behind `lower`, ends before `limit`, and holds no code
        in any of its branches: pragmas and comments alone."""
        depth = 0
        for opening in reversed(self.lines(lower, line.start + 1)):
            depth += (opening.word == "endif" and opening is not line) - opening.word.startswith("if")
            if depth < 0:
                break
        else:
            return False
        end = self.end_of_conditional(opening, limit)
        inside = self.lines(opening.start, end)
        if inside[-1].word != "endif" or any(d.word != "pragma" and d.word not in CONDITIONALS for d in inside):
            return False
        between = (self.file.text[a.end : b.start] for a, b in pairwise(inside))
        return not any(bare(text) for text in between)
