"""Text of Brook+ as words, with object-like macros in place; every word has its place in the user's text.

#define N 64            a word N stands for 64 from here on, at the place where N is written
#include, #pragma       are passed over: what a header declares of streams is built in

Limits: macros with parameters and conditionals are refused, and so are texts of more than `MOST_WORDS` words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, Literal

from msgspec import Struct

from warpsmith.base.c_lexer import C17, GAPS, Token, lex
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span

__all__ = ["MOST_WORDS", "BrookTextError", "BrookWord", "split_words"]

MOST_WORDS: Final = 50_000
_DEEPEST: Final = 20
_LONGEST: Final = 60

WordKind = Literal["word", "number", "sign", "text", "end"]


class BrookTextError(Exception):
    """A text is not what stands at its place."""

    def __init__(self, span: Span, message: str, *helps: str) -> None:
        super().__init__(message)
        self.finding = Finding("BRK001", "error", message, span, helps)


class BrookWord(Struct, frozen=True):
    """One word; `glued`: it begins where the word before it ends."""

    kind: WordKind
    text: str
    span: Span
    glued: bool = False

    @property
    def shown(self) -> str:
        """The word as a message has it."""
        if self.kind == "end":
            return "the end of the text"
        return f"'{self.text if len(self.text) <= _LONGEST else self.text[:_LONGEST] + '…'}'"


def split_words(file: SourceFile) -> tuple[BrookWord, ...]:
    """Return the words of a file, the last of which is its end; raises BrookTextError."""
    macros: dict[str, tuple[BrookWord, ...]] = {}
    found: list[BrookWord] = []
    for line, words in groupby(_words(file), lambda pair: pair[0]):
        if line:
            _read_directive([word for _, word in words], macros)
            continue
        for _, word in words:
            found += _replace(word, macros, ())
            if len(found) > MOST_WORDS:
                raise _too_many(word.span)
    end = len(file.text.rstrip()) if file.text.strip() else 0
    found.append(BrookWord("end", "", Span(file, max(0, end - 1), max(0, end))))
    return tuple(found)


def _too_many(span: Span) -> BrookTextError:
    return BrookTextError(span, f"this text has more than {MOST_WORDS:,} words", "split the file")


def _words(file: SourceFile) -> Iterator[tuple[int, BrookWord]]:
    """Yield each word with the number of its preprocessor line, 0 outside of them."""
    directive, before, end = 0, False, -1
    for count, token in enumerate(lex(file.text, C17)):
        if count > 2 * MOST_WORDS:
            raise _too_many(Span(file, token.start, token.end))
        starts = token.directive and (not before or token.sign == "#")
        directive += starts
        before = token.directive
        if token.kind in GAPS:
            before = before and token.kind != "newline"
            continue
        span = Span(file, token.start, token.end)
        yield directive if token.directive else 0, BrookWord(_kind(token, span), _text(token), span, token.start == end)
        end = token.end


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


def _read_directive(words: Sequence[BrookWord], macros: dict[str, tuple[BrookWord, ...]]) -> None:
    name = words[1].text if len(words) > 1 else ""
    if name in ("include", "pragma", "") or words[0].text != "#":
        return
    if name == "undef" and len(words) == 3:
        macros.pop(words[2].text, None)
    elif name == "define" and len(words) > 2 and words[2].kind == "word":
        if len(words) > 3 and words[3].text == "(" and words[3].glued:
            raise BrookTextError(words[3].span, "macros with parameters are not read", "write a helper function")
        macros[words[2].text] = tuple(words[3:])
    else:
        helps = ("expected #define NAME VALUE, #undef, #include or #pragma",)
        raise BrookTextError(words[1].span, f"#{name[:_LONGEST]} is not read here", *helps)


def _replace(word: BrookWord, macros: dict[str, tuple[BrookWord, ...]], inside: tuple[str, ...]) -> Iterator[BrookWord]:
    """Yield what a word stands for, at its place."""
    body = macros.get(word.text) if word.kind == "word" and word.text not in inside else None
    if body is None:
        yield word
        return
    if len(inside) >= _DEEPEST:
        raise BrookTextError(word.span, f"{word.shown} stands for macros that are nested too deeply")
    for part in body:
        yield from _replace(BrookWord(part.kind, part.text, word.span, part.glued), macros, (*inside, word.text))
