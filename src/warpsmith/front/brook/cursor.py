"""A place among words, and what may stand there; what names mean where that is.

x        a variable of the thread: Variable                 a, o    in and out streams are such variables
g        Gather: a pointer, and how wide its rows are       s       HostStream: a stream of host code
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.front.brook.tokens import BrookTextError, BrookWord
from warpsmith.tree.types import Symbol, Type

__all__ = ["BrookCursor", "BrookScope", "Gather", "HostStream", "Meaning", "Variable"]

_DEEPEST: Final = 60
_MOST_OPERATORS: Final = 120
"""More in one expression may be deeper than what walks over it goes."""


class Variable(Struct, frozen=True):
    """A number or vector; `reference`: the symbol points to it; `stream`: it is an element of that stream, and
    `writable` or not."""

    symbol: Symbol
    reference: bool = False
    writable: bool = True
    stream: bool = False


class Gather(Struct, frozen=True):
    """An array that is read at any place (`writable`: written); `sizes`: the length of its rows where it has two axes,
    and how many rows a layer has where it has three."""

    pointer: Symbol
    element: Type
    axes: int
    sizes: tuple[Symbol, ...]
    writable: bool = False


class HostStream(Struct, frozen=True):
    """A stream that host code declares."""

    symbol: Symbol
    element: Type


Meaning = Variable | Gather | HostStream


class BrookScope:
    """What names mean, the innermost block last."""

    def __init__(self) -> None:
        self._blocks: list[dict[str, Meaning]] = [{}]

    def open(self) -> None:
        """Begin a block."""
        self._blocks.append({})

    def close(self) -> None:
        """End the innermost block."""
        self._blocks.pop()

    def declare(self, word: BrookWord, meaning: Meaning) -> None:
        """Give a name a meaning in the innermost block; raises BrookTextError where it has one there."""
        if word.text in self._blocks[-1]:
            raise BrookTextError(word.span, f"'{word.text}' is declared twice", "give one of them another name")
        self._blocks[-1][word.text] = meaning

    def find(self, name: str) -> Meaning | None:
        """Return what a name means; None where it is not declared."""
        return next((block[name] for block in reversed(self._blocks) if name in block), None)

    def near(self, name: str) -> str:
        """Return a declared name that is like `name`, as a help; "" where there is none."""
        known = [one for block in self._blocks for one in block]
        found = get_close_matches(name, known, n=1)
        return f"did you mean '{found[0]}'?" if found else ""


class BrookCursor:
    """A place among words."""

    def __init__(self, words: Sequence[BrookWord], at: int = 0) -> None:
        self.words = words
        self.at = at
        self._depth = 0
        self._operators = 0

    @property
    def word(self) -> BrookWord:
        """The word that stands here."""
        return self.words[min(self.at, len(self.words) - 1)]

    def ahead(self, count: int = 1) -> BrookWord:
        """Return a word further on."""
        return self.words[min(self.at + count, len(self.words) - 1)]

    def take(self) -> BrookWord:
        """Return the word that stands here, and go on."""
        word = self.word
        self.at += 1
        return word

    def accepts(self, *texts: str) -> bool:
        """Go on where one of these stands here; return whether it did."""
        found = self.stands(*texts)
        self.at += found
        return found

    def stands(self, *texts: str) -> bool:
        """Return whether one of these stands here."""
        return self.word.kind in ("sign", "word") and self.word.text in texts

    def expect(self, text: str, where: str) -> BrookWord:
        """Return the word here, which has to be `text`; raises BrookTextError."""
        if not self.stands(text):
            raise self.unexpected(f"'{text}' {where}")
        return self.take()

    def expect_name(self, what: str) -> BrookWord:
        """Return the word here, which has to be a name; raises BrookTextError."""
        if self.word.kind != "word":
            raise self.unexpected(what)
        return self.take()

    def unexpected(self, expected: str) -> BrookTextError:
        """Return the error that something else stands here."""
        return BrookTextError(self.word.span, f"{self.word.shown} cannot stand here", f"expected {expected}")

    def since(self, first: BrookWord) -> Span:
        """Return the place from a word to the one before this place."""
        return self.join(first.span)

    def join(self, first: Span) -> Span:
        """Return the place from `first` to the word before this one."""
        last = self.words[max(0, self.at - 1)].span
        return Span(first.file, first.start, max(first.end, last.end))

    def enter(self) -> None:
        """Go one level deeper; raises BrookTextError where that is too deep."""
        self._depth += 1
        if self._depth > _DEEPEST:
            self._depth = 0
            raise BrookTextError(self.word.span, f"more than {_DEEPEST} levels are nested here", "write it in parts")

    def begin_statement(self) -> None:
        """Count the operators of expressions from here on."""
        self._operators = 0

    def count_operator(self) -> None:
        """Note an operator; raises BrookTextError where one expression has too many."""
        self._operators += 1
        if self._operators > _MOST_OPERATORS:
            message = f"this expression has more than {_MOST_OPERATORS} operators"
            raise BrookTextError(self.word.span, message, "write it in parts")

    def leave(self) -> None:
        """Come back from a level."""
        self._depth -= 1
