"""Text of Brook+ as words, as the preprocessor leaves them (`macros.py`); every word has its place in the user's text.

Limits: texts of more than `MOST_WORDS` words are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from warpsmith.base.c_lexer import C17, GAPS, Token, lex
from warpsmith.base.source import SourceFile, Span, plain_spaces
from warpsmith.front.brook.macros import MOST_WORDS, Macros, too_many
from warpsmith.front.brook.words import BrookTextError, BrookWord, WordKind

__all__ = ["MOST_WORDS", "BrookTextError", "BrookWord", "split_words"]

_LONGEST: Final = 60


def split_words(file: SourceFile) -> tuple[BrookWord, ...]:
    """Return the words of a file, the last of which is its end; raises BrookTextError."""
    macros = Macros()
    found: list[BrookWord] = []
    for line, words in groupby(_words(file), lambda pair: pair[0]):
        if line:
            macros.directive([word for _, word in words])
        elif macros.reads:
            found += macros.expand([word for _, word in words])
        if len(found) > MOST_WORDS:
            raise too_many(found[-1])
    macros.check_end()
    end = len(file.text.rstrip()) if file.text.strip() else 0
    found.append(BrookWord("end", "", Span(file, max(0, end - 1), max(0, end))))
    return tuple(found)


def _words(file: SourceFile) -> Iterator[tuple[int, BrookWord]]:
    """Yield each word with the number of its preprocessor line, 0 outside of them."""
    directive, before, end = 0, False, -1
    for count, token in enumerate(lex(plain_spaces(file.text), C17)):
        if count > 2 * MOST_WORDS:
            raise too_many(BrookWord("sign", "", Span(file, token.start, token.end)))
        starts = token.directive and (not before or (token.sign == "#" and _begins_line(file.text, token.start)))
        directive += starts
        before = token.directive
        if token.kind in GAPS:
            before = before and token.kind != "newline"
            continue
        span = Span(file, token.start, token.end)
        yield directive if token.directive else 0, BrookWord(_kind(token, span), _text(token), span, token.start == end)
        end = token.end


def _begins_line(text: str, at: int) -> bool:
    return not text[text.rfind("\n", 0, at) + 1 : at].strip()


def _text(token: Token) -> str:
    return token.sign or token.spelling


def _kind(token: Token, span: Span) -> WordKind:
    match token.kind:
        case "word" | "number" | "sign":
            return token.kind
        case "string" | "character" | "header":
            return "text"
        case _:
            shown = token.text if token.text.isprintable() else repr(token.text)[1:-1]
            raise BrookTextError(span, f"'{shown[:_LONGEST]}' is no word of Brook+", "take it out")
