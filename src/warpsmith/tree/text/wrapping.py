"""Long lines of generated text are broken into several.

    `wrap`           text of generated files
    `wrap_aligned`   host text, which its owner formats with clang-format: lines are broken where that would break them

Method of `wrap_aligned`: the places and penalties of clang-format's LLVM style (clang/lib/Format/TokenAnnotator.cpp,
`splitPenalty`, and ContinuationIndenter.cpp), for what host text consists of: a call, in a condition, an assignment or
a macro. A break costs 20 for each parenthesis around it, and behind an opening one or `=` 19 more; a character past the
last column costs more than any of them. Arguments stand below the first one. What is broken in another way than by
clang-format: sums, and choices inside of arguments.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from msgspec import Struct

from warpsmith.base.c_lexer import GAPS, Token, lex

__all__ = ["wrap", "wrap_aligned"]

_LIST: Final = frozenset((",", ";", "&&", "||"))
_BEFORE: Final = frozenset(("&&", "||", "?", ":"))
_AFTER: Final = frozenset((",", ";", "+", "=", "+=", "-=", "*="))
_ALIGNED: Final = frozenset((",", ";", "&&", "||", "+"))
_OPEN: Final = frozenset(("(", "[", "{"))
_CLOSE: Final = frozenset((")", "]", "}"))
_STATEMENTS: Final = frozenset(("if", "for", "while", "switch", "constexpr"))
_HANG: Final = "    "
_PAST: Final = 1_000_000


def wrap(line: str, width: int = 110) -> str:
    """Return one line of generated text broken into several of at most `width` characters where it can be.

    It is broken after commas and semicolons and before && and ||, as far outside of parentheses as possible; where
    there are none, after the signs of sums and assignments and before the arms of a choice. A line of the
    preprocessor's stays whole.
    """
    if line.lstrip().startswith("#"):
        return line
    lines: list[str] = []
    hung = line[: len(line) - len(line.lstrip(" "))] + _HANG
    while len(line) > width:
        place = _break(line, width)
        if place is None:
            break
        lines.append(line[:place].rstrip())
        line = hung + line[place:].lstrip()
    return "\n".join([*lines, line])


# a line is written as often as the text around it: for the port, and for the referee
@functools.lru_cache(maxsize=1024)
def _break(line: str, width: int) -> int | None:
    depth = 0
    # a list or a condition, else a sum
    best: dict[bool, tuple[int, int]] = {}
    # something has to stand in front of a break, or nothing is gained
    least = max(width // 3, len(line) - len(line.lstrip(" ")))
    # what stands behind the width is not lexed
    for token in lex(line):
        if token.end > width:
            break
        depth -= token.sign in _CLOSE
        place = token.start if token.sign in _BEFORE else token.end if token.sign in _AFTER else None
        of_list = token.sign in _LIST
        # Far to the right is good, a level of parentheses less is better.
        if place is not None and place > least and (of_list not in best or (-depth, place) >= best[of_list]):
            best[of_list] = (-depth, place)
        depth += token.sign in _OPEN
    found = best.get(True) or best.get(False)
    return None if found is None else found[1]


class _Inside:
    """What a parenthesis holds, or what stands outside of all: it starts at `start` in the statement; its `column`
    where a line above holds that place."""

    def __init__(self, start: int, column: int | None = None) -> None:
        self.start = start
        self.column = column


class _Place(Struct, frozen=True):
    """Where a line can be broken, before the token at `start`, which stands `inside` of a number (`depth`) of
    parentheses. `rank`: the greatest is the best, between arguments, conditions or statements before one in a sum."""

    rank: tuple[bool, int, bool, int]
    start: int
    inside: _Inside
    penalty: int


class _Lines:
    """One statement, broken into lines from left to right."""

    def __init__(self, width: int) -> None:
        self._width = width
        # where the current line starts in the statement, and the column at which it stands
        self._start = self._column = 0
        self._open = [_Inside(0, len(_HANG))]
        self._places: list[_Place] = []
        self.starts: list[tuple[int, int]] = [(0, 0)]
        self.penalty = 0

    def add(self, token: Token, following: Token | None, *, breaks: bool) -> None:
        """Go on with a token; `breaks`: what follows it stands in a new line."""
        if token.sign in _CLOSE and len(self._open) > 1:
            self._open.pop()
        if token.sign in ("?", ":"):
            self._places.append(self._place(token, token.start))
        while self._at(token.end) > self._width and self._break_at_best():
            pass
        self.penalty += max(0, self._at(token.end) - self._width) * _PAST
        if following is None:
            return
        column = self._content(self._open[-1]) + (len(_HANG) if len(self._open) > 1 else 0)
        if token.sign in _OPEN:
            self._open.append(_Inside(following.start))
        if breaks:
            self.penalty += 20 * (len(self._open) - 1) + 19
            self._start_line(following.start, column)
        elif token.sign in _ALIGNED and following.sign not in _CLOSE:
            self._places.append(self._place(token, following.start))

    def _place(self, token: Token, start: int) -> _Place:
        comma, depth = token.sign in (",", ";"), len(self._open) - 1
        rank = (token.sign in _LIST, -depth, comma, start)
        return _Place(rank, start, self._open[-1], 20 * depth + (1 if comma else 5))

    def _at(self, offset: int) -> int:
        return self._column + offset - self._start

    def _content(self, inside: _Inside) -> int:
        return self._at(inside.start) if inside.column is None else inside.column

    def _break_at_best(self) -> bool:
        """Break the current line before something that comes to stand further left; return whether there is one."""
        able = [place for place in self._places if self._content(place.inside) < self._at(place.start)]
        if not able:
            return False
        place = max(able, key=lambda place: place.rank)
        self.penalty += place.penalty
        self._start_line(place.start, self._content(place.inside))
        return True

    def _start_line(self, start: int, column: int) -> None:
        for inside in (*self._open, *(place.inside for place in self._places)):
            if inside.start < start:
                inside.column = self._content(inside)
        self._places = [place for place in self._places if place.start > start]
        self._start, self._column = start, column
        self.starts.append((start, column))


@functools.lru_cache(maxsize=1024)
def wrap_aligned(line: str, width: int) -> str:
    """Return one statement of host text, which starts at column 0, in lines of at most `width` where that can be; a
    comment stays whole."""
    tokens = [token for token in lex(line) if token.kind not in GAPS] if len(line) > width else []
    if not tokens or line.startswith("#"):
        return line
    heads = list(_heads(tokens))[::-1]
    choices = [_fill(tokens, chosen, width) for n in range(3) for chosen in combinations(heads, n)]
    best = min(choices, key=lambda lines: lines.penalty)
    ends = [*(start for start, _ in best.starts[1:]), len(line)]
    return "\n".join(" " * column + line[a:b].strip() for (a, column), b in zip(best.starts, ends, strict=True))


def _heads(tokens: Sequence[Token]) -> Iterator[int]:
    """Yield the tokens in front of the first argument behind which a line can be broken: `f(` and `x =`."""
    for n, token in enumerate(tokens[:-1]):
        if token.sign in _LIST:
            return
        named = n > 0 and tokens[n - 1].kind == "word" and tokens[n - 1].spelling not in _STATEMENTS
        if token.sign == "=" or (token.sign == "(" and named and tokens[n + 1].sign != ")"):
            yield n


def _fill(tokens: Sequence[Token], chosen: Sequence[int], width: int) -> _Lines:
    """Return the lines that are broken behind the chosen tokens, and else where they are full."""
    lines = _Lines(width)
    for n, token in enumerate(tokens):
        lines.add(token, tokens[n + 1] if n + 1 < len(tokens) else None, breaks=n in chosen)
    # a statement that a macro holds stands in a line of its own, or below the macro's parenthesis
    macro = tokens[0].spelling not in _STATEMENTS and tokens[-1].sign == ")"
    if macro and 1 in chosen and len(lines.starts) > 1 + len(chosen):
        lines.penalty += 10
    return lines
