"""Loops of C and C++ as their text shows them: where each begins and ends, for edits that keep everything else.

    #pragma omp for            before   the pragmas that belong to the loop stand between `before` and `start`
    for (i = 0; i < n; i++)    start, header (from the bracket to behind it)
        a[i] = 0;              body, end (behind the semicolon)

Invariant: a loop is either found whole, with its end where the compiler sees it, or stands in the list with the reason
why its text cannot be changed. No compiler is asked, so the text of every configuration is looked at.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from msgspec import Struct

from warpsmith.base.c_lexer import GAPS, lex

__all__ = ["MACRO_BEFORE", "LoopText", "SpelledToken", "find_loops", "tokens_of"]

Kind = Literal["for", "while", "do"]

_OPEN: Final = {"(": ")", "[": "]", "{": "}"}
_HEADS: Final = frozenset({"if", "constexpr", "for", "while", "switch", "catch"})
MACRO_BEFORE: Final = "a macro stands before it, which may be a pragma"
"""Why a loop is left alone whose directives the text may not show."""
_DEVICE: Final = frozenset({"__global__", "__device__", "__kernel", "kernel"})


class SpelledToken(Struct, frozen=True):
    """A token as it is spelled, a sign in its usual spelling, or a directive as one, its comments a blank each."""

    kind: str
    text: str
    start: int
    end: int


class LoopText(Struct, frozen=True):
    """One loop statement; offsets into the file. `pragmas` belong to it; `refused`: why its text cannot be changed."""

    kind: Kind
    line: int
    column: int
    before: int
    start: int
    header: tuple[int, int]
    body: tuple[int, int]
    end: int
    pragmas: tuple[str, ...] = ()
    refused: str = ""


class _CutError(Exception):
    """The statement does not end as its text lets one expect."""


def tokens_of(text: str) -> list[SpelledToken]:
    """Return the tokens of a file, directives whole, gaps left out."""
    found: list[SpelledToken] = []
    line: list[SpelledToken] = []
    for token in lex(text):
        if token.directive:
            said = " " if token.kind == "comment" else token.sign or token.spelling
            line.append(SpelledToken(token.kind, said, token.start, token.end))
            continue
        found += _directive(line)
        line = []
        if token.kind not in GAPS:
            found.append(SpelledToken(token.kind, token.sign or token.spelling, token.start, token.end))
    return [*found, *_directive(line)]


def _directive(line: list[SpelledToken]) -> list[SpelledToken]:
    """Return the tokens of a preprocessor line as one; nothing where there are none."""
    return [SpelledToken("directive", "".join(t.text for t in line), line[0].start, line[-1].end)] if line else []


def find_loops(text: str) -> list[LoopText]:
    """Return every loop statement of a file in the order of their text."""
    parser = _Parser(text)
    loops: list[LoopText] = []
    for index, token in enumerate(parser.tokens):
        if token.kind == "word" and token.text in ("for", "while", "do") and index not in parser.tails:
            before = parser.tokens[index - 1].text if index else ""
            if before not in (".", "->", "::"):
                loops.append(parser.loop(index))
    return loops


class _Parser:
    """The statements of one file, found on demand."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens_of(text)
        self.tails: set[int] = set()
        self.match, self.around = _brackets(self.tokens)

    def loop(self, index: int) -> LoopText:
        """Return the loop whose keyword is token `index`."""
        token = self.tokens[index]
        first = self._run(index)
        pragmas = tuple(_pragma(t.text) for t in self.tokens[first:index] if _pragma(t.text))
        line = self.text.count("\n", 0, token.start) + 1
        column = token.start - self.text.rfind("\n", 0, token.start)
        before = self.tokens[first].start if first < index else token.start
        try:
            header, body, last = self._parts(index)
        except (_CutError, IndexError, KeyError):
            place = (token.end, token.end)
            why = "its end cannot be found in the text"
            return LoopText(_kind(token), line, column, before, token.start, place, place, token.end, pragmas, why)
        refused = self._why_refused(first, index, last)
        return LoopText(
            _kind(token), line, column, before, token.start, header, body, self.tokens[last].end, pragmas, refused
        )

    def _parts(self, index: int) -> tuple[tuple[int, int], tuple[int, int], int]:
        """Return header and body (offsets) and the last token of the loop at `index`."""
        if self.tokens[index].text == "do":
            last = self.statement(index + 1)
            tail = last + 1
            if self.tokens[tail].text != "while":
                raise _CutError
            self.tails.add(tail)
            closing = self.match[tail + 1]
            if self.tokens[closing + 1].text != ";":
                raise _CutError
            header = self.tokens[tail + 1].start, self.tokens[closing].end
            return header, (self.tokens[index].end, self.tokens[last].end), closing + 1
        closing = self.match[index + 1]
        last = self.statement(closing + 1)
        header = self.tokens[index + 1].start, self.tokens[closing].end
        return header, (self.tokens[closing].end, self.tokens[last].end), last

    def statement(self, index: int) -> int:
        """Return the last token of the statement that begins at token `index`."""
        while self.tokens[index].kind == "directive":
            index += 1
        match self.tokens[index].text:
            case "{":
                return self.match[index]
            case "if":
                return self._conditional(index)
            case "for" | "while" | "switch":
                return self.statement(self.match[index + 1] + 1)
            case "do":
                return self._parts(index)[2]
            case "try":
                return self._skip_try(index)
            case "case" | "default":
                return self.statement(self._colon(index) + 1)
            case _ if self._is_label(index):
                return self.statement(index + 2)
            case _:
                return self._plain(index)

    def _conditional(self, index: int) -> int:
        opening = index + 1 + (self.tokens[index + 1].text == "constexpr")
        last = self.statement(self.match[opening] + 1)
        following = last + 1
        while following < len(self.tokens) and self.tokens[following].kind == "directive":
            following += 1
        if following < len(self.tokens) and self.tokens[following].text == "else":
            return self.statement(following + 1)
        return last

    def _skip_try(self, index: int) -> int:
        last = self.match[index + 1]
        while self.tokens[last + 1].text == "catch":
            last = self.match[self.match[last + 2] + 1]
        return last

    def _colon(self, index: int) -> int:
        while self.tokens[index].text != ":":
            index = self.match.get(index, index) + 1
        return index

    def _is_label(self, index: int) -> bool:
        return self.tokens[index].kind == "word" and self.tokens[index + 1].text == ":"

    def _plain(self, index: int) -> int:
        while self.tokens[index].text != ";":
            if self.tokens[index].text in (")", "]", "}"):
                raise _CutError
            if self.tokens[index].text in _OPEN:
                index = self.match[index]
            index += 1
        return index

    def _run(self, index: int) -> int:
        """Return the first of the directives right before `index` that belong to the loop: pragmas, and whole
        conditionals that end with one; a `section` is a place of its own."""
        first = at = index
        while at > 0 and self.tokens[at - 1].kind == "directive":
            at -= 1
            pragma = _pragma(self.tokens[at].text)
            if _word(self.tokens[at].text) == "endif":
                opening = self._opening(at)
                if opening is None or not _pragma(self.tokens[at - 1].text):
                    break
                at = opening
            elif not pragma or re.match(r"omp\s+sections?\b|scop\b|endscop\b", pragma):
                break
            first = at
        return first

    def _opening(self, endif: int) -> int | None:
        """Return the `#if` of the `#endif` at token `endif`."""
        depth = 0
        for at in range(endif, -1, -1):
            if self.tokens[at].kind == "directive":
                depth += {"endif": 1, "if": -1, "ifdef": -1, "ifndef": -1}.get(_word(self.tokens[at].text), 0)
                if depth == 0:
                    return at
        return None

    def _why_refused(self, first: int, index: int, last: int) -> str:
        """Return why the text of a loop cannot be changed, "" if it can."""
        if self._follows_macro(index):
            return MACRO_BEFORE
        inside = range(first, last + 1)
        depth = 0
        for at in inside:
            if self.tokens[at].kind == "directive":
                word = _word(self.tokens[at].text)
                depth += {"endif": -1, "if": 1, "ifdef": 1, "ifndef": 1}.get(word, 0)
                if depth < 0 or (depth == 0 and word in ("else", "elif")):
                    return "a preprocessor conditional cuts it"
        if depth:
            return "a preprocessor conditional cuts it"
        if any(self._is_jump_target(at) for at in inside[1:]):
            return "it has a label, to which a goto may lead"
        if self._has_foreign_case(index, last):
            return "a switch around it has a case in it"
        words = self._of_function(index)
        if words & {"constexpr", "consteval"}:
            return "it stands in a constexpr function"
        return "it is code for a device" if words & _DEVICE else ""

    def _follows_macro(self, index: int) -> bool:
        """Whether a word stands before the loop that is none of the language's, alone or with arguments: a macro, or
        `_Pragma`. It may be a pragma, which needs the loop right behind it."""
        at = index - 1
        while at >= 0 and self.tokens[at].kind == "directive":
            at -= 1
        if at < 0:
            return False
        if self.tokens[at].kind == "word":
            return self.tokens[at].text not in ("else", "do")
        if self.tokens[at].text != ")" or at not in self.match:
            return False
        before = self.tokens[self.match[at] - 1]
        return before.kind == "word" and before.text not in _HEADS

    def _is_jump_target(self, at: int) -> bool:
        if not self._is_label(at) or self.tokens[at].text in ("default", "public", "private", "protected"):
            return False
        return self.tokens[at - 1].text in (";", "{", "}", ")", "else", "do") or (
            self.tokens[at - 1].kind == "directive" or self.tokens[at - 1].text == ":"
        )

    def _has_foreign_case(self, index: int, last: int) -> bool:
        covered = index
        for at in range(index, last + 1):
            if self.tokens[at].text == "switch" and self.tokens[at].kind == "word":
                try:
                    covered = max(covered, self.statement(at))
                except (_CutError, IndexError, KeyError):
                    return True
            is_case = self.tokens[at].text == "case" or (
                self.tokens[at].text == "default" and self.tokens[at + 1].text == ":"
            )
            if is_case and at > covered:
                return True
        return False

    def _of_function(self, index: int) -> set[str]:
        """Return the words in front of the braces around a token: of its function's head among them."""
        words: set[str] = set()
        brace = self.around[index]
        while brace >= 0:
            at = brace - 1
            while at >= 0 and self.tokens[at].text not in (";", "{", "}"):
                words.add(self.tokens[at].text)
                at -= 1
            brace = self.around[brace]
        return words


def _brackets(tokens: list[SpelledToken]) -> tuple[dict[int, int], list[int]]:
    """Return the partner of every bracket, and for every token the opening brace around it (-1: none)."""
    match: dict[int, int] = {}
    around: list[int] = []
    stack: list[int] = []
    braces: list[int] = [-1]
    for index, token in enumerate(tokens):
        if token.text == "}" and token.kind == "sign" and len(braces) > 1:
            braces.pop()
        around.append(braces[-1])
        if token.kind != "sign":
            continue
        if token.text in _OPEN:
            stack.append(index)
            if token.text == "{":
                braces.append(index)
        elif token.text in (")", "]", "}"):
            _close(tokens, stack, match, index)
    return match, around


def _close(tokens: list[SpelledToken], stack: list[int], match: dict[int, int], index: int) -> None:
    """Pair a closing bracket with the nearest opening one of its kind; what lies between has no partner."""
    while stack:
        opening = stack.pop()
        if _OPEN[tokens[opening].text] == tokens[index].text:
            match[opening], match[index] = index, opening
            return


def _kind(token: SpelledToken) -> Kind:
    return "for" if token.text == "for" else "while" if token.text == "while" else "do"


def _word(directive: str) -> str:
    found = re.match(r"#\s*(\w+)", directive)
    return found[1] if found else ""


def _pragma(directive: str) -> str:
    """Return what stands behind `#pragma`, in one line; "" for other directives and tokens."""
    found = re.match(r"#\s*pragma\s+(.*)", directive, re.DOTALL)
    return " ".join(found[1].split()) if found else ""
