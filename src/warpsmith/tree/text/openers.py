"""Private members of C++ classes, named from outside: what a small function of the class gives, written out.

    u(i, j)  →  u.data_[i * u.ny_ + j], data_ private          (u.*ws_member(ws_Grid_data_())).data()[…]

The standard checks no access in the arguments of an explicit instantiation ([temp.spec] 6): one that is given a pointer
to the member hands it on, through a friend function which argument-dependent lookup finds.

    struct ws_Grid_data_ { typedef std::vector<double> (heat::Grid::*type); friend type ws_member(ws_Grid_data_); };
    template <ws_Grid_data_::type at> struct ws_Grid_data__made {
        friend ws_Grid_data_::type ws_member(ws_Grid_data_) { return at; }
    };
    template struct ws_Grid_data__made<&heat::Grid::data_>;

Invariant: an opener stands once in every namespace that uses it, behind the class, before the first function with it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec import Struct, field

from warpsmith.base.c_lexer import GAPS, Token
from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.base.source import Edit, SourceFile, Span
from warpsmith.tree.text.lexical import tokens

__all__ = ["Opener", "once_lines", "opener_insertions", "placed_elsewhere"]

_CALL = re.compile(r"\bws_member\((ws_\w+)\(\)\)")


class Opener(Struct, frozen=True):
    """A private member: `owner` is its class in full, `declared` a pointer to it named `type`, `member` its name;
    `definition` is where the class is written."""

    owner: str
    declared: str
    member: str
    definition: Span | None = None

    @property
    def name(self) -> str:
        """The type that stands for the member."""
        words = re.sub(r"\W+", "_", self.owner.replace("*", "ptr"))
        return f"ws_{words}_{self.member}"

    def reach_member(self, base: str, *, arrow: bool) -> str:
        """Return the member of the object `base`, or of the one that it points to."""
        return f"({base}{'->' if arrow else '.'}*ws_member({self.name}()))"

    @property
    def lines(self) -> tuple[str, ...]:
        """The declarations that `reach_member` needs."""
        name, made = self.name, f"{self.name}_made"
        return (
            f"struct {name} {{ typedef {self.declared}; friend type ws_member({name}); }};",
            f"template <{name}::type at> struct {made} {{ friend {name}::type ws_member({name}) {{ return at; }} }};",
            f"template struct {made}<&{self.owner}::{self.member}>;",
        )


def opener_insertions(
    file: SourceFile,
    edits: Iterable[Edit],
    openers: Iterable[Opener],
    *,
    guarded: bool = False,
    opened: Collection[Opener] = (),
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the lines that `edits` of a file need, each with the line start at which they are to stand. `guarded`: a
    header may say them as well, so that they must count once; `opened`: what one does say.

    Raises RefusedError where there is no such place behind the class.
    """
    known = {opener.name: opener for opener in openers}
    seen: set[tuple[tuple[str, ...], str]] = set()
    marked = ((edit, dict.fromkeys(_CALL.findall(edit.text))) for edit in sorted(edits, key=lambda e: e.span.start))
    wanting = [(edit, names) for edit, names in marked if names]
    for (edit, names), (spaces, place) in zip(wanting, _outside(file, [e.span for e, _ in wanting]), strict=True):
        fresh = [known[name] for name in names if (spaces, name) not in seen and known[name] not in opened]
        seen |= {(spaces, name) for name in names}
        for opener in fresh:
            after = opener.definition
            if after is not None and after.file.path == file.path and after.end > place:
                raise _no_place(f"the private member {opener.member} of {opener.owner}", edit.span)
            yield place, once_lines(opener, spaces) if guarded else opener.lines


def placed_elsewhere(openers: Iterable[Opener], file: SourceFile) -> tuple[Opener, ...]:
    """Return those whose class stands in a file that `file` includes, each once."""
    placed = (one for one in openers if one.definition is not None and one.definition.file.path != file.path)
    return tuple(dict.fromkeys(placed))


def once_lines(opener: Opener, spaces: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the declarations of an opener, as lines that count once in a namespace, however often they stand there."""
    macro = "_".join(("WS_OPENED", *spaces, opener.name)).upper()
    return f"#ifndef {macro}", f"#define {macro}", *opener.lines, "#endif"


def _outside(file: SourceFile, spans: Sequence[Span]) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the namespaces around each of these places in functions, from the first to the last, and the line start
    before that function (or its class)."""
    scan, text = _Scan(), file.text
    known = tokens(text[: spans[-1].start]) if spans else iter(())
    token = next(known, None)
    for span in spans:
        while token is not None and token.start < span.start:
            if token.kind == "newline":
                scan.line(token.start)
            elif token.kind not in GAPS:
                scan.token(token)
            token = next(known, None)
        boundary = scan.boundaries[-1]
        line = text.find("\n", boundary)
        rest = text[boundary : span.start if line < 0 else line].strip()
        if boundary and (line < 0 or line >= span.start or (rest and not rest.startswith("//"))):
            raise _no_place("a private member", span)
        yield tuple(s for s in scan.spaces if s is not None), line + 1 if boundary else 0


class _Scan(Struct):
    """What a text has opened so far: `spaces` has a name for every open namespace and None for any other brace;
    `boundaries` are the ends of what was declared outside of classes and functions."""

    spaces: list[str | None] = field(default_factory=list)
    boundaries: list[int] = field(default_factory=lambda: [0])
    words: list[str] = field(default_factory=list)
    parentheses: int = 0
    directive: bool = False

    def line(self, offset: int) -> None:
        """Go on behind the end of a line."""
        if self.directive and None not in self.spaces and not self.words:
            self.boundaries.append(offset)
        self.directive = False

    def token(self, token: Token) -> None:
        """Go on behind a word or sign."""
        self.directive = token.directive
        if self.directive:
            return
        self.parentheses += (token.sign == "(") - (token.sign == ")")
        if token.sign not in ("{", "}", ";"):
            self.words.append(token.spelling)
            return
        if token.sign == "{":
            if not self.words and len(self.boundaries) > 1 and None not in self.spaces:
                self.boundaries.pop()  # `A() : n{0} {`: what was closed before was no declaration
            named = "namespace" in self.words and "(" not in self.words
            self.spaces.append(self.words[-1] if named else None)
        elif token.sign == "}" and self.spaces:
            self.spaces.pop()
        if not self.parentheses:
            self.words = []
            if None not in self.spaces:
                self.boundaries.append(token.end)


def _no_place(what: str, span: Span) -> RefusedError:
    text = f"there is no line before this function where {what} could be made known"
    return RefusedError(Finding("POR008", "error", text, span))
