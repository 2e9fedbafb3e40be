"""What the preprocessor does to words: macros are replaced, and parts are left out by conditions.

#define N 64            a word N stands for 64 from here on, at the place where N is written
#define SQ(x) x * x     SQ(a) stands for a * a: words of arguments keep their own places
#if  #ifdef  #else …    conditions are whole numbers; names that are no macros are 0
#include, #pragma       are passed over: what a header declares of streams is built in

Source: ISO C, 6.10; D. Prosser's algorithm (X3J11/86-196): each word knows the macros that it came from, and does not
stand for these again. Limits: no `#x`, `a ## b`, `…`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from warpsmith.front.brook.words import BrookTextError, BrookWord

__all__ = ["MOST_WORDS", "Macros", "too_many"]

MOST_WORDS: Final = 50_000
_DEEPEST: Final = 20
_LONGEST: Final = 60


def _quotient(a: int, b: int) -> int:
    """Return a quotient as C has it; 0 where there is none."""
    return 0 if not b else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_LEVELS: Final[tuple[dict[str, Callable[[int, int], int]], ...]] = (
    {"||": lambda a, b: int(bool(a) or bool(b))},
    {"&&": lambda a, b: int(bool(a) and bool(b))},
    {"==": operator.eq, "!=": operator.ne},
    {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge},
    {"+": operator.add, "-": operator.sub},
    {"*": operator.mul, "/": _quotient, "%": lambda a, b: a - _quotient(a, b) * b},
)
_INCLUDED: Final = ("include", "pragma")


class _Macro(Struct, frozen=True):
    """What a name stands for; `parameters` None: it takes none."""

    body: tuple[BrookWord, ...]
    parameters: tuple[str, ...] | None = None


class _Part(Struct):
    """A condition that is open: whether what stands around it is read, whether a part of it was, and whether this one
    is."""

    first: BrookWord
    around: bool
    taken: bool
    here: bool


class Macros:
    """The macros of a text, line by line."""

    def __init__(self) -> None:
        self._macros: dict[str, _Macro] = {}
        self._parts: list[_Part] = []
        self._made = 0

    @property
    def reads(self) -> bool:
        """Whether the lines here are read."""
        return all(part.here for part in self._parts)

    def directive(self, words: Sequence[BrookWord]) -> None:
        """Do what a line of the preprocessor says; raises BrookTextError where that is not known here."""
        if words[0].text != "#" or len(words) < 2:
            return
        name = words[1].text
        if name in ("if", "ifdef", "ifndef", "elif", "else", "endif"):
            self._condition(name, words)
        elif not self.reads or name in _INCLUDED:
            return
        elif name == "undef" and len(words) == 3:
            self._macros.pop(words[2].text, None)
        elif name == "define" and len(words) > 2 and words[2].kind == "word":
            self._macros[words[2].text] = _define(words)
        elif name == "error":
            said = " ".join(word.text for word in words[2:])
            raise BrookTextError(words[1].span, f"#error {said[:_LONGEST]}", "define what it asks for")
        else:
            helps = ("expected #define NAME VALUE, #undef, #include, #pragma, or a condition",)
            raise BrookTextError(words[1].span, f"#{name[:_LONGEST]} is not read here", *helps)

    def check_end(self) -> None:
        """Raise BrookTextError where a condition is still open."""
        if self._parts:
            first = self._parts[-1].first
            raise BrookTextError(first.span, f"#{first.text} has no #endif", "expected #endif before the end")

    def expand(self, words: Sequence[BrookWord]) -> list[BrookWord]:
        """Return words with their macros in place; raises BrookTextError."""
        return [one.word for one in self._expand([_Hidden(word) for word in words], 0)]

    # --- conditions

    def _condition(self, name: str, words: Sequence[BrookWord]) -> None:
        if name in ("if", "ifdef", "ifndef"):
            around = self.reads
            holds = around and (self._holds(words[2:], words[1]) if name == "if" else self._is_defined(name, words))
            self._parts.append(_Part(words[1], around, holds, holds))
            return
        if not self._parts:
            raise BrookTextError(words[1].span, f"#{name} without #if", "take it out")
        part = self._parts[-1]
        if name == "endif":
            self._parts.pop()
        elif name == "else":
            part.here = part.around and not part.taken
            part.taken = True
        else:
            part.here = part.around and not part.taken and self._holds(words[2:], words[1])
            part.taken = part.taken or part.here

    def _is_defined(self, name: str, words: Sequence[BrookWord]) -> bool:
        if len(words) < 3 or words[2].kind != "word":
            raise BrookTextError(words[1].span, f"#{name} names no macro", f"expected #{name} NAME")
        return (words[2].text in self._macros) == (name == "ifdef")

    def _holds(self, words: Sequence[BrookWord], place: BrookWord) -> bool:
        asked: list[BrookWord] = []
        at = 0
        while at < len(words):
            word = words[at]
            if word.text == "defined":
                wrapped = at + 3 < len(words) and words[at + 1].text == "("
                named = words[at + 2] if wrapped else words[min(at + 1, len(words) - 1)]
                asked.append(BrookWord("number", str(int(named.text in self._macros)), word.span))
                at += 4 if wrapped else 2
                continue
            asked.append(word)
            at += 1
        return bool(_Condition(self.expand(asked), place).value())

    # --- macros

    def _expand(self, words: Sequence[_Hidden], depth: int) -> list[_Hidden]:
        found: list[_Hidden] = []
        waiting = list(reversed(words))
        while waiting:
            one = waiting.pop()
            self._made += 1
            if self._made > 4 * MOST_WORDS:
                raise too_many(one.word)
            macro = self._macros.get(one.word.text) if one.word.kind == "word" else None
            if macro is None or one.word.text in one.names:
                found.append(one)
            elif macro.parameters is None:
                waiting += reversed(_body(macro, one, one.names, {}))
            elif waiting and waiting[-1].word.text == "(":
                arguments, names = _arguments(waiting, one)
                waiting += reversed(_body(macro, one, names, self._given(macro.parameters, arguments, one.word, depth)))
            else:
                found.append(one)
        return found

    def _given(
        self, names: Sequence[str], arguments: Sequence[Sequence[_Hidden]], word: BrookWord, depth: int
    ) -> dict[str, list[_Hidden]]:
        if len(arguments) != len(names) and not (not names and arguments == [[]]):
            message = f"the macro {word.text} takes {len(names)} arguments, and here is {len(arguments)}"
            raise BrookTextError(word.span, message)
        if depth >= _DEEPEST:
            raise BrookTextError(word.span, f"{word.shown} stands for macros that are nested too deeply")
        return {name: self._expand(argument, depth + 1) for name, argument in zip(names, arguments, strict=False)}


class _Hidden(Struct, frozen=True):
    """A word, and the macros that it came from, which it does not stand for again."""

    word: BrookWord
    names: frozenset[str] = frozenset()


def _body(macro: _Macro, one: _Hidden, names: frozenset[str], given: Mapping[str, Sequence[_Hidden]]) -> list[_Hidden]:
    """Return what a macro stands for, at the place of its name."""
    hidden = names | {one.word.text}
    found: list[_Hidden] = []
    for part in macro.body:
        if part.text in given:
            found += (_Hidden(word.word, word.names | hidden) for word in given[part.text])
        else:
            found.append(_Hidden(BrookWord(part.kind, part.text, one.word.span, part.glued), hidden))
    return found


def too_many(word: BrookWord) -> BrookTextError:
    """Return the error that a text has more words than anybody writes."""
    return BrookTextError(word.span, f"this text has more than {MOST_WORDS:,} words", "split the file")


def _define(words: Sequence[BrookWord]) -> _Macro:
    """Return the macro that `# define NAME …` defines."""
    if len(words) < 4 or words[3].text != "(" or not words[3].glued:
        return _Macro(tuple(words[3:]))
    names: list[str] = []
    at = 4
    while at < len(words) and words[at].text != ")":
        if words[at].kind != "word" or words[at + 1 : at + 2] == [] or words[at + 1].text not in (",", ")"):
            raise BrookTextError(words[at].span, f"{words[at].shown} is no parameter of a macro", "expected a name")
        names.append(words[at].text)
        at += 2 if words[at + 1].text == "," else 1
    if at >= len(words):
        raise BrookTextError(words[3].span, "'(' is not closed", "expected ')' behind the parameters of the macro")
    body = tuple(words[at + 1 :])
    for word in body:
        if word.text in ("#", "##"):
            raise BrookTextError(word.span, f"{word.shown} in macros is not read here", "write the word itself")
    return _Macro(body, tuple(names))


def _arguments(waiting: list[_Hidden], name: _Hidden) -> tuple[list[list[_Hidden]], frozenset[str]]:
    """Take the arguments of a macro, from its '(' to its ')', from the words that wait, the next one last; return them
    with the macros that both the name and the ')' came from."""
    found: list[list[_Hidden]] = [[]]
    depth = 0
    while waiting:
        one = waiting.pop()
        text = one.word.text if one.word.kind == "sign" else ""
        depth += (text == "(") - (text == ")")
        if not depth:
            return found, name.names & one.names
        if text == "," and depth == 1:
            found.append([])
        elif depth > 1 or text != "(":
            found[-1].append(one)
    raise BrookTextError(name.word.span, f"the arguments of the macro {name.word.text} have no end", "expected ')'")


class _Condition:
    """A condition of `#if`, evaluated from left to right by precedence climbing."""

    def __init__(self, words: Sequence[BrookWord], place: BrookWord) -> None:
        self.words, self.place, self.at, self.depth = words, place, 0, 0

    def value(self) -> int:
        """Return what it is; raises BrookTextError."""
        found = self._binary(0)
        if self.at < len(self.words):
            raise self._wrong(self.words[self.at])
        return found

    def _wrong(self, word: BrookWord | None) -> BrookTextError:
        shown = "the end of the line" if word is None else word.shown
        span = (self.place if word is None else word).span
        return BrookTextError(span, f"{shown} cannot stand here", "expected whole numbers, defined(NAME), && || ! < ==")

    def _binary(self, level: int) -> int:
        if level == len(_LEVELS):
            return self._unary()
        found = self._binary(level + 1)
        while self.at < len(self.words) and self.words[self.at].text in _LEVELS[level]:
            apply = _LEVELS[level][self.words[self.at].text]
            self.at += 1
            found = int(apply(found, self._binary(level + 1)))
        return found

    def _unary(self) -> int:
        if self.at >= len(self.words):
            raise self._wrong(None)
        word = self.words[self.at]
        self.at += 1
        self.depth += 1
        if self.depth > _LONGEST:
            raise self._wrong(word)
        found = self._operand(word)
        self.depth -= 1
        return found

    def _operand(self, word: BrookWord) -> int:
        if word.text in ("!", "-", "+"):
            value = self._unary()
            return int(not value) if word.text == "!" else -value if word.text == "-" else value
        if word.text == "(":
            value = self._binary(0)
            if self.at >= len(self.words) or self.words[self.at].text != ")":
                raise self._wrong(self.words[self.at] if self.at < len(self.words) else None)
            self.at += 1
            return value
        if word.kind == "word":
            return 0
        try:
            return int(word.text.rstrip("uUlL"), 0)
        except ValueError:
            raise self._wrong(word) from None
