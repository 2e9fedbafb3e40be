"""The macros that a file decides itself, whatever the options that it is built with.

    #define OPEN
    #ifdef OPEN             decided
    #ifdef DEBUG            the command line's

Invariant: a macro that is fixed has been defined, or taken away, outside of every conditional before it is asked for.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Final

from warpsmith.tree.text.lexical import PreprocessorLine, directives, tokens

__all__ = ["ASKING", "condition_words", "find_conditionals", "find_fixed"]

_IF: Final = ("if", "ifdef", "ifndef")
ASKING: Final = (*_IF, "elif", "elifdef", "elifndef")
"""The words of lines that ask for macros."""
_NAME: Final = re.compile(r"#\s*(?:define|undef)\s+([\w$]+)")


def condition_words(condition: str) -> Iterator[str]:
    """Yield the names in a condition."""
    words = [token.spelling for token in tokens(condition) if token.kind == "word"]
    yield from words[1:]


def find_conditionals(text: str) -> Iterator[tuple[PreprocessorLine, PreprocessorLine, list[PreprocessorLine]]]:
    """Yield the first and the last line of every conditional, and those that ask."""
    pending: list[list[PreprocessorLine]] = []
    for line in directives(text):
        if line.word in _IF:
            pending.append([line])
        elif line.word in ASKING and pending:
            pending[-1].append(line)
        elif line.word == "endif" and pending:
            lines = pending.pop()
            yield lines[0], line, lines


@functools.lru_cache(maxsize=256)
def find_fixed(text: str) -> frozenset[str]:
    """Return the macros that `text` defines itself before it asks for them, and the one that keeps it from being
    included twice."""
    found: set[str] = set()
    asked: set[str] = set()
    lines = list(directives(text))
    guard = _guard(text, lines)
    for line in lines:
        depth = line.depth - bool(guard)
        words = text[line.start : line.end]
        named = _NAME.match(words)
        if line.word in ASKING:
            asked |= set(condition_words(words))
        elif named is not None and depth <= 0 and named[1] not in asked:
            found.add(named[1])
    return frozenset(found) | guard


def _guard(text: str, lines: Sequence[PreprocessorLine]) -> frozenset[str]:
    """Return the macro that keeps a header from being included twice: asked for first, then defined, till the end."""
    if len(lines) < 3 or lines[0].word not in ("ifndef", "if") or lines[1].word != "define":
        return frozenset()
    first, last, _ = max(find_conditionals(text), key=lambda found: found[1].end - found[0].start)
    named = _NAME.match(text[lines[1].start : lines[1].end])
    whole = first is lines[0] or first.start == lines[0].start
    if named is None or not whole or last.start != lines[-1].start or named[1] not in text[first.start : first.end]:
        return frozenset()
    return frozenset({named[1]})
