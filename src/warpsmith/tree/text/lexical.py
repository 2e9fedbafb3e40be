"""Lexical queries on C text before it is parsed: its words, its preprocessor lines, where its lines may be indented."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from warpsmith.base.c_lexer import GAPS, Mark, Token, join_splices, lex, marks

__all__ = ["PreprocessorLine", "directives", "find_unbroken", "identifiers", "map_words", "name_from", "tokens"]

# texts up to this length are taken apart once
_SHORT = 8_000
_LINE_FEED = re.compile("\n")
_KEEPING = ('"', "'", "\\")
"""Every token other than a gap in which a line feed may stand has one of these."""


class PreprocessorLine(Struct, frozen=True):
    """One preprocessor line: `word` is `include`, `if` …; `depth` counts the conditionals open around it, `braces` the
    curly braces; [start, end) runs from `#` to the end of its logical line, the line end not included."""

    word: str
    start: int
    end: int
    depth: int
    braces: int


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of `text`, gaps included."""
    return iter(_short_tokens(text)) if len(text) <= _SHORT else lex(text)


# one text is written several times: as the port, and for the referee with captures
@functools.lru_cache(maxsize=1024)
def _short_tokens(text: str) -> tuple[Token, ...]:
    return tuple(lex(text))


def identifiers(text: str) -> set[str]:
    """Return the words of `text` outside comments and strings: keywords and macro names included, and what names of
    system headers are made of, for a header likes to declare something of its name."""
    return set(_identifiers(text))


# every step that makes a variable asks this of whole files
@functools.lru_cache(maxsize=256)
def _identifiers(text: str) -> frozenset[str]:
    found = tuple(tokens(text))
    headers = " ".join(token.spelling[1:-1] for token in found if token.spelling[:1] == "<" and token.kind == "header")
    words = frozenset(token.spelling for token in found if token.kind == "word")
    return words.union(re.findall(r"\w+", headers))


def map_words(text: str, change: Callable[[str], str]) -> str:
    """Return `text` with every word outside comments, strings and names of headers replaced by `change(word)`."""
    return "".join(_change_word(token, change) if token.kind == "word" else token.text for token in tokens(text))


def _change_word(word: Token, change: Callable[[str], str]) -> str:
    """Return what stands in place of a word: itself as it is written, line splices and all, where nothing changes."""
    changed = change(word.spelling)
    return word.text if changed == word.spelling else changed


def name_from(wanted: str, reserved: tuple[str, ...] = ()) -> str:
    """Return `wanted` as an identifier that only its ending can keep from being free.

    What is no identifier in it (`Grid::step`, `v.data()`) is written as one, leading double underscores, which are the
    compiler's, are left out, and a beginning among `reserved` gets another one before it.
    """
    wanted = re.sub(r"\W+", "_", wanted).strip("_") if re.search(r"\W", wanted) else wanted
    wanted = wanted.lstrip("_") if wanted.startswith("__") else wanted
    wanted = wanted or "name"
    return f"my_{wanted}" if wanted.startswith(reserved) or wanted[:1].isdigit() else wanted


def find_unbroken(text: str) -> Iterator[int]:
    """Yield the offsets at which a line starts that may be indented anew: not inside a string or another token."""
    yield 0
    if not any(mark in text for mark in _KEEPING):
        yield from (found.end() for found in _LINE_FEED.finditer(text))
        return
    for token in tokens(text):
        if token.kind not in GAPS:
            continue
        position = token.text.find("\n")
        while position != -1:
            yield token.start + position + 1
            position = token.text.find("\n", position + 1)


def directives(text: str) -> Iterator[PreprocessorLine]:
    """Yield the preprocessor lines of `text`."""
    depth = braces = 0
    line: list[Mark] = []
    for token in [*marks(text), Mark("newline", "", len(text), len(text), False)]:
        if token.directive:
            line.append(token)
        elif token.kind == "newline" and line:
            word = next((join_splices(text[t.start : t.end]) for t in line if t.kind == "word"), "")
            depth -= word == "endif"
            yield PreprocessorLine(word, line[0].start, token.start, depth, braces)
            depth += word in ("if", "ifdef", "ifndef")
            line = []
        elif token.sign in ("{", "}"):
            braces += 1 if token.sign == "{" else -1
