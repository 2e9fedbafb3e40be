"""Questions to C text that its tokens answer: what it includes, its words, its code without comments and quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from warpsmith.base.c_lexer import CXX, GAPS, NAME, TEXTS, Dialect, join_splices, lex, marks

__all__ = ["find_includes", "mask_code", "strip_code", "words_anywhere"]

_NAME: Final = re.compile(NAME)
_VISIBLE: Final = re.compile(r"[^\n]")


def find_includes(text: str) -> Iterator[str]:
    """Yield what the `#include` lines of a text name: `<a.h>`, `"b.h"`, or the macros that stand there, without
    comments."""
    line: list[str] = []
    for mark in marks(text, brackets=False):
        if mark.kind == "newline":
            line = []
        elif mark.directive and mark.kind != "comment":
            line.append(join_splices(text[mark.start : mark.end]))
            if len(line) == 3 and line[1] == "include":
                yield line[2]


def mask_code(text: str, dialect: Dialect = CXX) -> str:
    """Return `text` with blanks for its comments and texts in quotes; its length and its line feeds stay."""
    pieces, position = list[str](), 0
    for mark in marks(text, dialect, brackets=False):
        if mark.kind == "comment" or mark.kind in TEXTS:
            pieces += [text[position : mark.start], _VISIBLE.sub(" ", text[mark.start : mark.end])]
            position = mark.end
    return "".join([*pieces, text[position:]])


def strip_code(text: str) -> str:
    """Return a text on one line: its comments, line ends and blanks are a blank each, its spliced lines are joined."""
    return "".join(" " if t.kind in GAPS else t.spelling for t in lex(text)).strip()


def words_anywhere(text: str) -> list[str]:
    """Return all words of a text, those in comments and strings too: for questions where one too many does no harm."""
    return _NAME.findall(join_splices(text))
