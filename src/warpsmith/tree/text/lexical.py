"""C text as tokens: enough to find words, comments, strings and preprocessor lines; nothing is parsed.

Invariant: the tokens of a text, joined, are the text.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from msgspec import Struct

__all__ = ["Directive", "Token", "directives", "identifiers", "map_words", "name_from", "tokens", "unbroken"]

TokenKind = Literal["space", "newline", "comment", "string", "word", "number", "other"]

# texts up to this length are taken apart once
_SHORT = 20_000
_TOKEN = re.compile(
    r"""(?P<newline>\r?\n)
      | (?P<space>(?:[ \t\f\v\r]|\\\r?\n)+)
      | (?P<comment>/\*.*?(?:\*/|\Z)|//(?:\\\r?\n|[^\n])*)
      | (?P<string>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
          | (?:u8|[uUL])?"(?:\\\r?\n|\\.|[^"\\\n])*(?:"|(?=\n)|\Z)
          | [uUL]?'(?:\\\r?\n|\\.|[^'\\\n])*(?:'|(?=\n)|\Z))
      | (?P<word>[A-Za-z_$\x80-\xff][\w$\x80-\xff]*)
      | (?P<number>\.?[0-9](?:[eEpP][+-]|[\w.'])*)
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_KINDS: dict[str, TokenKind] = {
    "newline": "newline",
    "space": "space",
    "comment": "comment",
    "string": "string",
    "word": "word",
    "number": "number",
    "other": "other",
}


# a tuple, which is made three times as fast as a dataclass: files have tens of thousands of them
class Token(NamedTuple):
    """One token; `start` is its offset."""

    kind: TokenKind
    text: str
    start: int

    @property
    def end(self) -> int:
        """Offset just past the token."""
        return self.start + len(self.text)


class Directive(Struct, frozen=True):
    """One preprocessor line: `word` is `include`, `if` …; `depth` counts the conditionals open around it, `braces` the
    curly braces; [start, end) runs from `#` to the end of its logical line, the line end not included."""

    word: str
    start: int
    end: int
    depth: int
    braces: int


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of `text`."""
    return iter(_short_tokens(text)) if len(text) <= _SHORT else _tokens(text)


# one text is written several times: as the port, and for the referee with captures
@functools.lru_cache(maxsize=1024)
def _short_tokens(text: str) -> tuple[Token, ...]:
    return tuple(_tokens(text))


def _tokens(text: str) -> Iterator[Token]:
    for match in _TOKEN.finditer(text):
        kind = _KINDS["string" if match.lastgroup == "mark" else match.lastgroup or "other"]
        yield Token(kind, match.group(), match.start())


def identifiers(text: str) -> set[str]:
    """Return the words of `text` outside comments and strings (keywords and macro names included)."""
    return set(_identifiers(text))


# every step that makes a variable asks this of whole files
@functools.lru_cache(maxsize=256)
def _identifiers(text: str) -> frozenset[str]:
    return frozenset(token.text for token in tokens(text) if token.kind == "word")


def map_words(text: str, change: Callable[[str], str]) -> str:
    """Return `text` with every word outside comments and strings replaced by `change(word)`."""
    return "".join(change(token.text) if token.kind == "word" else token.text for token in tokens(text))


def name_from(wanted: str, reserved: tuple[str, ...] = ()) -> str:
    """Return `wanted` as an identifier that only its ending can keep from being free.

    What is no identifier in it (`Grid::step`, `v.data()`) is written as one, leading double underscores, which are the
    compiler's, are left out, and a beginning among `reserved` gets another one before it.
    """
    wanted = re.sub(r"\W+", "_", wanted).strip("_") if re.search(r"\W", wanted) else wanted
    wanted = wanted.lstrip("_") if wanted.startswith("__") else wanted
    wanted = wanted or "name"
    return f"my_{wanted}" if wanted.startswith(reserved) or wanted[:1].isdigit() else wanted


def unbroken(text: str) -> Iterator[int]:
    """Yield the offsets at which a line starts that may be indented anew: not inside a string."""
    yield 0
    for token in tokens(text):
        if token.kind == "string":
            continue
        position = token.text.find("\n")
        while position != -1:
            yield token.start + position + 1
            position = token.text.find("\n", position + 1)


def directives(text: str) -> Iterator[Directive]:
    """Yield the preprocessor lines of `text`."""
    depth = braces = 0
    fresh = True
    start = -1
    words: list[str] = []
    for token in [*tokens(text), Token("newline", "", len(text))]:
        if start >= 0:
            if token.kind == "word":
                words.append(token.text)
            if token.kind != "newline":
                continue
            word = words[0] if words else ""
            depth -= word == "endif"
            yield Directive(word, start, token.start, depth, braces)
            depth += word in ("if", "ifdef", "ifndef")
            start, words = -1, []
        elif fresh and token.text == "#":
            start = token.start
        elif token.text in ("{", "}"):
            braces += 1 if token.text == "{" else -1
        fresh = token.kind == "newline" or (fresh and token.kind in ("space", "comment"))
