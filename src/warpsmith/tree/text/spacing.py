"""Pieces of C text side by side: a blank stands where two tokens would otherwise be read as one.

    w[i]/ + *s  →  w[i]/ *s        a- + -1  →  a- -1        0xE + +1  →  0xE +1        L + "x"  →  L "x"

Source: ISO C, 6.4 (the next token is the longest sequence of characters that could be one) and 6.4.8 (pp-numbers take
signs after e and p); C++, [lex.pptoken], [lex.digraph].

Invariant: tokens of joined pieces are those of the pieces. A blank too many does no harm, so the rule looks at
characters and knows no context: `word` next to a quote is separated whether or not the word is a prefix.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

__all__ = ["fuses", "join_pieces"]

_PAIRS: Final = frozenset({
    "++", "--", "&&", "||", "<<", ">>", "<=", ">=", "==", "!=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "->",
    "..", "::", "//", "/*", "##", ".*", ">*", "<:", ":>", "<%", "%>", "%:", "??",
})  # fmt: skip
_WORD: Final = re.compile(r"[\w$\x80-\xff]", re.ASCII)
_QUOTES: Final = ("'", '"')
_LAST: Final = re.compile(
    r"(?P<number>\.?[0-9](?:[eEpP][+-]|[\w.'])*)\Z|[A-Za-z_$\x80-\xff][\w$\x80-\xff]*\Z", re.ASCII
)
# longer than any number that is written
_TAIL: Final = 80


def fuses(left: str, right: str) -> bool:
    """Whether the last token of `left` and the first one of `right` would be read as others, were nothing between."""
    if not left or not right:
        return False
    a, b = left[-1], right[0]
    if a + b in _PAIRS or (a == "." and b.isdigit()):
        return True
    if a in _QUOTES or b in _QUOTES:
        return a == "." or bool(_WORD.match(a) or _WORD.match(b))
    if not _WORD.match(a) and a != ".":
        return False
    if a != "." and _WORD.match(b):
        return True
    last = _LAST.search(left[-_TAIL:])
    is_number = last is not None and last["number"] is not None
    return is_number and (b == "." or bool(_WORD.match(b)) or (a in "eEpP" and b in "+-"))


def join_pieces(pieces: Iterable[str]) -> str:
    """Return the pieces one after the other, with a blank between two whose tokens would fuse."""
    parts: list[str] = []
    for piece in pieces:
        if parts and piece and fuses(parts[-1], piece):
            parts.append(" ")
        if piece:
            parts.append(piece)
    return "".join(parts)
