"""Where device variables are declared: the symbol table of a program knows their names and sizes, not their lines."""

from __future__ import annotations

from warpsmith.base.c_lexer import Token
from warpsmith.base.source import SourceFile, Span
from warpsmith.run.verification import Sources
from warpsmith.tree.text.lexical import tokens

__all__ = ["find_declared"]


def find_declared(sources: Sources, space: str, name: str) -> Span | None:
    """Return the name in the first declaration of a variable `name` that has the word `space` (`__shared__`,
    `__constant__`) before it; None where a macro says it, or nothing does."""
    for file in sources.files:
        found = _find_name(file.text, space, name) if space in file.text else None
        if found is not None:
            return Span(SourceFile(file.path, file.text), found.start, found.end)
    return None


def _find_name(text: str, space: str, name: str) -> Token | None:
    declares = False
    for token in tokens(text):
        if token.directive:
            continue
        if token.spelling == space:
            declares = True
        elif token.spelling == ";":
            declares = False
        elif declares and token.kind == "word" and token.spelling == name:
            return token
    return None
