"""The class template around a place in a file, by its text.

namespace n {
template <typename T> class Field {         name: Field
    void fill(T s) { … }                    the place: a member's definition
};                                          end: behind the semicolon
}
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from warpsmith.base.c_lexer import Token
from warpsmith.tree.text.lexical import tokens

__all__ = ["ClassText", "class_around"]

_GAPS: Final = frozenset({"blank", "newline", "comment"})
_CLASSES: Final = frozenset({"class", "struct"})
_DECLARES: Final = frozenset({"class", "struct", "union", "enum", "using", "typedef"})


class ClassText(Struct, frozen=True):
    """A class template of a namespace, its text [start, end); `declared`: words of what it declares as types."""

    name: str
    start: int
    end: int
    declared: frozenset[str] = frozenset()


# every member of a class asks, and each step once more
@functools.lru_cache(maxsize=256)
def class_around(text: str, place: int) -> ClassText | None:
    """Return the class template that directly holds what begins at `place`; None where none does, or another class or
    function stands between."""
    opened: list[list[Token]] = []
    said: list[Token] = []
    inside: list[Token] | None = None
    types: set[str] = set()
    for token in tokens(text):
        if token.directive or token.kind in _GAPS:
            continue
        if inside is None and token.start >= place:
            inside = _holder(opened)
            if inside is None:
                return None
        if token.sign == "{":
            types |= _declared(said)
            opened.append(said)
            said = []
        elif token.sign == "}":
            if not opened:
                return None
            closed = opened.pop()
            said = [token] if closed is inside else []
        elif token.sign == ";":
            types |= _declared(said)
            if inside is not None and said and said[0].sign == "}" and inside not in opened:
                end = token.start + len(token.text)
                return ClassText(_name(inside), inside[0].start, end, frozenset(types)) if len(said) == 1 else None
            said = []
        else:
            said.append(token)
    return None


def _holder(opened: Sequence[list[Token]]) -> list[Token] | None:
    """Return what opens the innermost block, where that is a class template and only namespaces are around it."""
    if not opened or not all("namespace" in _words(said) or _is_linkage(said) for said in opened[:-1]):
        return None
    return opened[-1] if _words(opened[-1])[:1] == ["template"] and _name(opened[-1]) else None


def _is_linkage(said: list[Token]) -> bool:
    words = _words(said)
    return len(words) == 2 and words[0] == "extern"


def _name(said: list[Token]) -> str:
    """Return the name of the class that a statement begins, behind the parameters of the template."""
    depth, enclosed, found = 0, 0, False
    for token in said[1:]:
        enclosed += (token.sign == "(") - (token.sign == ")")
        depth += 0 if enclosed else (token.sign == "<") - (token.sign == ">")
        if depth == 0 and found and token.kind == "word":
            return token.spelling
        found = found or (depth == 0 and token.spelling in _CLASSES)
        if found and token.sign in ("[", "("):
            return ""  # attributes
    return ""


def _declared(said: list[Token]) -> set[str]:
    words = _words(said)
    return {token.spelling for token in said if token.kind == "word"} if _DECLARES & set(words) else set()


def _words(said: list[Token]) -> list[str]:
    return [token.spelling for token in said]
