"""The text of a file seen lexically: its punctuation and its preprocessor lines, comments and strings left out.

clang's tree has no semicolons, no pragmas and no `#if` lines, and drops the empty parts of `for (;;)`: those are
found here, in one pass over the text.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_left
from itertools import pairwise
from typing import Final

from msgspec import Struct

from warpsmith.base.c_lexer import C23, CXX, GAPS, Dialect, Mark, gap_end, join_splices, lex, marks
from warpsmith.base.source import SourceFile

__all__ = ["CONDITIONALS", "ForHeader", "ScannedDirective", "ScannedText", "bare"]

CONDITIONALS: Final = frozenset({"if", "ifdef", "ifndef", "elif", "else", "endif", "elifdef", "elifndef"})

# what only the lexer can tell: quotes, comments, line splices
_QUOTED: Final = re.compile(r"[\"'/\\]")
_MOST_SCANNED: Final = 32
_OPENING, _CLOSING = "([{", ")]}"


def bare(text: str) -> str:
    """Return `text` without comments and white space outside of quotes."""
    if not _QUOTED.search(text):
        return "".join(text.split())
    return "".join(token.spelling for token in lex(text) if token.kind not in GAPS)


class ScannedDirective(Struct, frozen=True):
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


class ScannedText(Struct, frozen=True):
    """The marks of one file: offsets and characters of its punctuation, and its preprocessor lines."""

    file: SourceFile
    offsets: tuple[int, ...]
    characters: str
    directives: tuple[ScannedDirective, ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, file: SourceFile) -> ScannedText:
        """Scan the text of `file`."""
        return cls(file, *_scan(file.text, _dialect(file.path)))

    def skip(self, offset: int) -> int:
        """Return the offset of the next byte that is neither white space nor in a comment."""
        return gap_end(self.file.text, offset)

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

    def lines(self, start: int, end: int) -> tuple[ScannedDirective, ...]:
        """Return the preprocessor lines that start in [start, end)."""
        return self.directives[bisect_left(self.starts, start) : bisect_left(self.starts, end)]

    def conditional(self, start: int, end: int) -> bool:
        """Whether a preprocessor conditional starts in [start, end)."""
        return any(d.word in CONDITIONALS for d in self.lines(start, end))

    def end_of_conditional(self, line: ScannedDirective, limit: int) -> int:
        """Return where the conditional that `line` belongs to ends; `limit` where its `#endif` is not before it."""
        depth = 0 if line.word.startswith("if") else 1
        for other in self.lines(line.start, limit):
            depth += (other.word in ("if", "ifdef", "ifndef")) - (other.word == "endif")
            if depth <= 0:
                return other.end
        return limit

    def is_empty_conditional(self, line: ScannedDirective, lower: int, limit: int) -> bool:
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


_Scanned = tuple[tuple[int, ...], str, tuple[ScannedDirective, ...], tuple[int, ...]]


# the files of a project have most of their headers in common, each of which is scanned for every one of them
@functools.lru_cache(maxsize=_MOST_SCANNED)
def _scan(text: str, dialect: Dialect) -> _Scanned:
    """Return the punctuation of a text by its offsets, and its preprocessor lines with their offsets."""
    offsets: list[int] = []
    characters: list[str] = []
    directives: list[ScannedDirective] = []
    line: list[Mark] = []
    operator: list[Mark] = []
    for mark in marks(text, dialect):
        if mark.directive:
            line.append(mark)
            continue
        if line:
            directives.append(_directive(text, line, mark.start))
            line = []
        if mark.sign:
            offsets.append(mark.start)
            characters.append(mark.sign)
        if mark.kind == "word":
            operator = [mark]
        elif operator:
            operator.append(mark)
        if len(operator) == 4:
            if _is_operator(text, operator):
                directives.append(ScannedDirective("pragma", operator[0].start, mark.end))
                del offsets[-2:], characters[-2:]
            operator = []
    if line:
        directives.append(_directive(text, line, len(text)))
    starts = tuple(d.start for d in directives)
    return tuple(offsets), "".join(characters), tuple(directives), starts


def _dialect(path: str) -> Dialect:
    return C23 if path.endswith(".c") else CXX


def _directive(text: str, line: list[Mark], end: int) -> ScannedDirective:
    """Return the directive that the tokens of a preprocessor line make, which ends at `end`."""
    start, word = line[0].start, next((m for m in line[1:] if m.kind != "comment"), None)
    spelled = join_splices(text[word.start : word.end]) if word is not None and word.kind == "word" else ""
    return ScannedDirective(spelled, start, start + len(text[start:end].rstrip()))


def _is_operator(text: str, found: list[Mark]) -> bool:
    """Whether four marks, of which the first is the word `_Pragma`, are `_Pragma("…")` with nothing between."""
    _, opening, quoted, closing = found
    plain = (opening.sign, closing.sign) == ("(", ")") and text[quoted.start] == '"'
    return plain and not any(text[a.end : b.start].strip() for a, b in pairwise(found))
