r"""The lexer of C, C++ and CUDA text: preprocessing tokens with their places, blanks and comments among them.

    #def\           sign `#`, word `define` (written `def\⏎ine`), blank, word `N`, blank, number `1'000`, newline;
    ine N 1'000     all but the newline stand in a preprocessor line

Invariant: the tokens follow one another without a gap, so that their `text` joined is the input; every `spelling` is
the token after translation phase 2 (spliced lines joined), but for raw strings, in which phase 2 is undone.

Source: ISO C23, 5.1.1.2 and 6.4; C++20, [lex.phases], [lex.pptoken], [lex.header], [lex.string]. As in the gnu modes of
GCC and clang: trigraphs are off, `$` is a letter, and blanks may stand between `\` and the line end that it splices.

Method: a compiled expression takes one token after the other from the text without its splices, and offsets are mapped
back. The context that an expression cannot know is followed by hand: preprocessor lines, in which `<a//b>` may be the
name of a header, and raw strings. Everything is linear in the length of the text; nothing is ever refused: what has no
end (a string, a comment) ends with its line or with the text, as in clang.

Limits: offsets count characters, which are bytes in the text of a `SourceFile`. Lines are counted as `SourceFile` does,
by line feeds, though a carriage return alone ends a line too (and a `//` comment with it). Bytes above 127 and
universal character names are letters, whatever they stand for. `import <a>;` names no header here.
"""

# no `from __future__ import annotations`: to make tuples with names, the text of every field would be compiled
import functools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import Final, Literal, NamedTuple, Self

from msgspec import Struct

__all__ = [
    "C17",
    "C23",
    "CUDA",
    "CXX",
    "DIGRAPHS",
    "GAPS",
    "NAME",
    "TEXTS",
    "Dialect",
    "Mark",
    "Token",
    "TokenKind",
    "gap_end",
    "goes_on",
    "join_splices",
    "lex",
    "marks",
]  # fmt: skip

TokenKind = Literal[
    "blank", "newline", "comment", "word", "number", "string", "character", "header", "sign", "other"
]  # fmt: skip

GAPS: Final = frozenset[TokenKind]({"blank", "newline", "comment"})
"""Kinds of what stands between the tokens of the language."""

TEXTS: Final = frozenset[TokenKind]({"string", "character", "header"})
"""Kinds of tokens in quotes (or angle brackets): nothing in them is a token."""

DIGRAPHS: Final = {"<:": "[", ":>": "]", "<%": "{", "%>": "}", "%:": "#", "%:%:": "##"}
"""Signs that have two spellings, and the usual one."""


# a tuple, which is made three times as fast as a dataclass: files have tens of thousands of them
class Token(NamedTuple):
    """One token: [start, end) is its place, `text` is what stands there, `spelling` what it says: `text` without line
    splices. `line` and `column` count from 1. `directive`: it stands in a preprocessor line, whose newline does not."""

    kind: TokenKind
    text: str
    spelling: str
    start: int
    end: int
    line: int
    column: int
    directive: bool

    @property
    def sign(self) -> str:
        """The usual spelling of a sign; empty for other tokens."""
        return DIGRAPHS.get(self.spelling, self.spelling) if self.kind == "sign" else ""


class Dialect(Struct, frozen=True):
    """What tells languages apart. `c23`: `'` in numbers and `u8'c'`, which C++ has as well; `cxx`: raw strings,
    suffixes of literals, signs of C++; `cuda`: `<<<` and `>>>`."""

    c23: bool
    cxx: bool
    cuda: bool


C17: Final = Dialect(c23=False, cxx=False, cuda=False)
C23: Final = Dialect(c23=True, cxx=False, cuda=False)
CXX: Final = Dialect(c23=True, cxx=True, cuda=False)
CUDA: Final = Dialect(c23=True, cxx=True, cuda=True)

NAME: Final = r"[^\x00-\x23\x25-\x40\x5b-\x5e\x60\x7b-\x7f][^\x00-\x23\x25-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f]*+"
"""A regular expression of a name: letters, `$`, `_`, digits, and all that is not ASCII."""

_SPLICE: Final = re.compile(r"\\[ \t\f\v]*+(?:\r\n?|\n\r?)")
_BLANK: Final = " \t\f\v\0"
_DIVIDERS: Final = frozenset("()[]{};,")
_GAP: Final = re.compile(
    rf"(?:[ \t\f\v\0\r\n]++|{_SPLICE.pattern}|//(?:{_SPLICE.pattern}|[^\r\n])*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?+)*+"
)
_LETTER: Final = r"[^\x00-\x23\x25-\x40\x5b-\x5e\x60\x7b-\x7f]"
_LETTERS: Final = r"[^\x00-\x23\x25-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f]"
# `_`, and what goes on a number, with all that is not ASCII; by what they are not, over which `re` is not long
_BEYOND: Final = r"[^\x00-\x5e\x60-\x7f]"
_IN_NUMBERS: Final = r"[^\x00-\x2d\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f]"
_UNIVERSAL: Final = r"\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}"
_REST: Final = rf"(?:{_LETTERS}++|{_UNIVERSAL})*+"
_PREFIX: Final = r"(?:u8|[uUL])?"
_MARK: Final = r"[^\s()\\]{0,16}+"
# the suffixes of the standard library, and those of the user, which begin with an underscore
_OWN_SUFFIX: Final = rf"(?:(?:{_BEYOND}|{_UNIVERSAL}){_REST})?+"
_SUFFIX: Final = (
    rf"(?:(?:{_BEYOND}|{_UNIVERSAL}){_REST}|(?:h|min|m?s|us|ns|il?|if|d|y|sv)(?!{_LETTERS}|{_UNIVERSAL}))?+"
)
_RAW: Final = re.compile(rf"({_MARK})\(")
_RAW_PREFIX: Final = re.compile(rf'{_PREFIX}R"')
_RAW_SUFFIX: Final = re.compile(_SUFFIX)
_HEADER: Final = re.compile(r'<[^>\r\n]++>|"[^"\r\n]++"')
_BYTE_ORDER_MARK: Final = re.compile("\xef\xbb\xbf|\ufeff")
_KINDS: Final[tuple[TokenKind, ...]] = (
    "other", "blank", "newline", "string", "string", "character", "word", "number", "comment", "sign", "other",
)  # fmt: skip
_RAW_STRING: Final = 3

_INCLUDES: Final = frozenset({"include", "include_next", "import", "embed"})
_ASKING: Final = frozenset({"__has_include", "__has_include_next", "__has_embed"})
_Awaited = Literal["nothing", "word", "header", "bracket"]


def lex(text: str, dialect: Dialect = CXX) -> Iterator[Token]:
    """Yield the tokens of `text`, gaps included.

    C++ is right for a text of C as well, unless a macro named `R` stands in front of a string, or a macro that is named
    like a suffix of C++ behind one.
    """
    found = tuple(_SPLICE.finditer(text))
    return _lex_spliced(_Source.of(text, found), dialect) if found else _plain(text, dialect)


def join_splices(text: str) -> str:
    """Return `text`, which holds no raw strings, with its spliced lines joined (translation phase 2)."""
    return _SPLICE.sub("", text)


class Mark(NamedTuple):
    """A token seen in passing: its kind and its place in the text."""

    kind: TokenKind
    sign: str
    start: int
    end: int
    directive: bool


def marks(text: str, dialect: Dialect = CXX, *, brackets: bool = True) -> Iterator[Mark]:
    """Yield, faster than `lex`, the tokens that divide a text: comments, texts in quotes, the word `_Pragma`, and with
    `brackets` these, `;` and `,` too. Of preprocessor lines all tokens but blanks are there, and the line end behind
    them. `sign` is as in `Token`."""
    make = tuple.__new__
    found = tuple(_SPLICE.finditer(text))
    source = _Source.of(text, found) if found else _Source(text, text)
    logical, before = source.logical, False
    for kind, first, last, directive in _pieces(source, dialect, _skimming(dialect, brackets=brackets)):
        sign = ""
        if kind == "sign":
            sign = logical[first:last]
            sign = DIGRAPHS.get(sign, sign)
            divides = brackets and sign in _DIVIDERS
        else:
            divides = kind == "comment" or kind in TEXTS or (kind == "word" and logical[first:last] == "_Pragma")
        if divides or (directive and kind != "blank") or (before and not directive):
            start, end = source.place(kind, first, last) if found else (first, last)
            yield make(Mark, (kind, sign, start, end, directive))
        before = directive


def gap_end(text: str, offset: int) -> int:
    """Return the offset of the first token at or behind `offset`, where no token is cut, that is no gap."""
    found = _GAP.match(text, offset)
    return found.end() if found else offset


def goes_on(line: str) -> bool:
    r"""Whether a line, given with or without its end, goes on in the next one: it ends in `\` and perhaps blanks."""
    return line.rstrip().endswith("\\")


class _Source(Struct, frozen=True):
    """A text and what phase 2 makes of it: `places[k]` is where splice k was in `logical`, `removed[k]` how many
    characters were taken out up to it."""

    text: str
    logical: str
    places: tuple[int, ...] = ()
    removed: tuple[int, ...] = (0,)

    @classmethod
    def of(cls, text: str, found: tuple[re.Match[str], ...]) -> Self:
        starts, ends = [m.start() for m in found], [m.end() for m in found]
        removed = (0, *accumulate(end - start for start, end in zip(starts, ends, strict=True)))
        pieces = (text[a:b] for a, b in zip([0, *ends], [*starts, len(text)], strict=True))
        places = (start - before for start, before in zip(starts, removed[:-1], strict=True))
        return cls(text, "".join(pieces), tuple(places), removed)

    def original(self, place: int) -> int:
        """Return where the text goes on behind the character before `place`."""
        return place + self.removed[bisect_left(self.places, place)]

    def behind(self, place: int) -> int:
        """Return where the character at `place` stands."""
        return place + self.removed[bisect_right(self.places, place)]

    def place(self, kind: TokenKind, first: int, last: int) -> tuple[int, int]:
        """Return where a token stands; a splice at the end of a `//` comment is part of it."""
        runs_on = kind == "comment" and self.logical.startswith("//", first)
        return self.behind(first), self.behind(last) if runs_on else self.original(last)

    def after_raw(self, place: int) -> int | None:
        """Return the place behind the raw string whose first quote ends at `place`; None where none starts there."""
        start = self.original(place)
        opening = _RAW.match(self.text, start)
        if opening is None:
            return None
        closing = f'){opening[1]}"'
        found = self.text.find(closing, opening.end())
        end = len(self.text) if found < 0 else found + len(closing)
        before = bisect_left(range(len(self.places)), end, key=lambda k: self.places[k] + self.removed[k])
        return end - self.removed[before]


_Piece = tuple[TokenKind, int, int, bool]


def _pieces(source: _Source, dialect: Dialect, skimming: re.Pattern[str] | None = None) -> Iterator[_Piece]:
    """Yield kind, [start, end) in the logical text, and whether it stands in a preprocessor line, of every token; what
    `skimming` passes over is left out, but in preprocessor lines."""
    text, every = source.logical, _pattern(dialect).match
    dividing = skimming.match if skimming else every
    found = _BYTE_ORDER_MARK.match(text)
    position, size = found.end() if found else 0, len(text)
    if position:
        yield "blank", 0, position, False
    fresh, directive = True, False
    awaited: _Awaited = "nothing"
    while position < size:
        found = (every if directive else dividing)(text, position)
        assert found is not None
        if found.lastindex is None:
            break
        kind, start, end = _KINDS[found.lastindex], found.start(found.lastindex), found.end()
        fresh = fresh and not text[position:start].strip(_BLANK)
        if kind == "newline":
            fresh, directive = True, False
        elif kind != "blank" and kind != "comment":
            if found.lastindex == _RAW_STRING:
                kind, end = _raw_string(source, end)
            if directive:
                if awaited == "header" and (header := _HEADER.match(text, start)):
                    kind, end = "header", header.end()
                awaited = _await_next(awaited, text[start:end])
            elif fresh:
                directive, awaited = text[start:end] in ("#", "%:"), "word"
            fresh = False
        yield kind, start, end, directive
        position = end


def _raw_string(source: _Source, place: int) -> tuple[TokenKind, int]:
    """Return kind and end of what begins like the raw string whose first quote ends at `place`: a word where it is none
    after all."""
    end = source.after_raw(place)
    if end is None:
        return "word", place - 1
    suffix = _RAW_SUFFIX.match(source.logical, end)
    return "string", suffix.end() if suffix else end


def _await_next(awaited: _Awaited, word: str) -> _Awaited:
    """Return what may follow `word` in a preprocessor line."""
    if awaited == "word":
        return "header" if word in _INCLUDES else "nothing"
    if awaited == "bracket" and word == "(":
        return "header"
    return "bracket" if word in _ASKING else "nothing"


def _plain(text: str, dialect: Dialect) -> Iterator[Token]:
    """Yield the tokens of a text that has no splices."""
    make = tuple.__new__
    line, line_start = 1, 0
    for kind, start, end, directive in _pieces(_Source(text, text), dialect):
        written = text[start:end]
        yield make(Token, (kind, written, written, start, end, line, start - line_start + 1, directive))
        if "\n" in written:
            line += written.count("\n")
            line_start = start + written.rindex("\n") + 1


def _lex_spliced(source: _Source, dialect: Dialect) -> Iterator[Token]:
    """Yield the tokens of a text with splices: one inside a token or at the end of a `//` comment belongs to it, any
    other to a blank."""
    text = source.text
    line, line_start = 1, 0
    for kind, spelling, start, end, directive in _lex_mapped(source, dialect):
        written = text[start:end]
        yield Token(kind, written, spelling, start, end, line, start - line_start + 1, directive)
        if "\n" in written:
            line += written.count("\n")
            line_start = start + written.rindex("\n") + 1


def _lex_mapped(source: _Source, dialect: Dialect) -> Iterator[tuple[TokenKind, str, int, int, bool]]:
    """Yield kind, spelling, [start, end) in the text as written, and whether it stands in a preprocessor line."""
    places, removed = source.places, source.removed
    passed = done = 0
    before = False
    for kind, first, last, directive in _pieces(source, dialect):
        while passed < len(places) and places[passed] <= first:
            passed += 1
        start = first + removed[passed]
        if kind == "blank":
            start = done
        elif done < start:
            yield "blank", "", done, start, before
        runs_on = kind == "blank" or (kind == "comment" and source.logical.startswith("//", first))
        while passed < len(places) and places[passed] < last + runs_on:
            passed += 1
        done = last + removed[passed]
        yield kind, _spelling(source, kind, (first, last), (start, done)), start, done, directive
        before = directive
    if done < len(source.text):
        yield "blank", "", done, len(source.text), before


def _spelling(source: _Source, kind: TokenKind, place: tuple[int, int], written: tuple[int, int]) -> str:
    """Return what a token says, which lies at `place` in the logical text: raw strings say what is written."""
    logical = source.logical[slice(*place)]
    prefix = _RAW_PREFIX.match(logical) if kind == "string" and len(logical) != written[1] - written[0] else None
    if prefix is None:
        return logical
    return prefix[0] + source.text[source.original(place[0] + prefix.end()) : written[1]]


@functools.cache
def _pattern(dialect: Dialect) -> re.Pattern[str]:
    """Return the expression that takes the next token; its groups are `_KINDS`."""
    return re.compile("|".join(f"({group})" for group in _groups(dialect)), re.DOTALL)


@functools.cache
def _skimming(dialect: Dialect, *, brackets: bool) -> re.Pattern[str]:
    """Return the expression that takes the next token of those that divide a text, with what is before it: of line ends
    those behind which no preprocessor line starts."""
    groups = _groups(dialect)
    blank, _, raw, _, _, word, number, *_ = groups
    # how a text in quotes begins: whatever follows, it is one
    quoted = rf"{_PREFIX}\"|{_character_prefix(dialect)}'"
    line_end = r"[\r\n](?![ \t\f\v\0]*+[#%/])"
    launch = ("<<<|" if dialect.cuda else "") + ("" if brackets else r"[()\[\]{};,]|")
    signs = rf"{launch}<<=?|<=>?|<(?![:%])|::|:(?!>)|%(?![:>])|/(?![/*])|[-+*&|^=!>?~.]"
    passed = f"{blank}|{line_end}|(?!{raw}|{quoted}|_Pragma){word}|{number}|{signs}"
    stops = "|".join(f"({group})" for group in groups)
    return re.compile(rf"(?:{passed})*+(?:{stops}|\Z)", re.DOTALL)


def _character_prefix(dialect: Dialect) -> str:
    return _PREFIX if dialect.c23 else "[uUL]?"


def _groups(dialect: Dialect) -> tuple[str, ...]:
    """Return expressions of the kinds of tokens, in the order in which they are tried."""
    suffix, own_suffix = (_SUFFIX, _OWN_SUFFIX) if dialect.cxx else ("", "")
    prefix = _character_prefix(dialect)
    quote = "'[A-Za-z0-9_]|" if dialect.c23 else ""
    return (
        r"[ \t\f\v\0]++",
        r"\r\n?|\n",
        f'{_PREFIX}R"(?={_MARK}\\()' if dialect.cxx else "(?!)",
        rf'{_PREFIX}"(?:[^"\\\r\n]++|\\[^\r\n])*+(?:"{suffix}|\\?+)',
        rf"{prefix}'(?:[^'\\\r\n]++|\\[^\r\n])*+(?:'{own_suffix}|\\?+)",
        rf"(?:{_LETTER}|{_UNIVERSAL}){_REST}",
        rf"\.?[0-9](?:[eEpP][+-]|{quote}{_IN_NUMBERS}|{_UNIVERSAL})*+",
        r"//[^\r\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?+",
        "|".join(_signs(dialect)),
        ".",
    )


def _signs(dialect: Dialect) -> Iterator[str]:
    """Yield expressions of the signs, of which the first that fits is the longest."""
    yield r"[()\[\]{};,?~]"
    if dialect.cxx:
        yield r"->\*|\.\*|<=>"
    if dialect.cuda:
        yield "<<<|>>>"
    # `<::` is `<` and `::`, but for `<:::` and `<::>` ([lex.pptoken] 3.2)
    yield r"<:(?!:(?![:>]))" if dialect.cxx else "<:"
    yield r"%:%:|\.\.\.|<<=|>>="
    yield r"\+[+=]|-[-=>]|&[&=]|\|[|=]|<[<=%]|>[>=]|:[:>]|\#\#|%[:>=]|[=!*/^]="
    yield r"[-+*/%&|^=<>!.:\#]"
