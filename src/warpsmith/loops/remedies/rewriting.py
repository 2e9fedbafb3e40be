"""Pieces of the user's text with names replaced: what the edits of remedies are made of.

    span   { double d = x[i] - x[j]; f[i] += d; }      with i → j, j → i and the update left out
    text   { double d = x[j] - x[i]; }

Invariant: a piece is changed only where the tree's span is the very text that the tree says; a name that comes from a
macro, or a construct that is not modelled, makes the whole piece unusable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.source import Edit, Span
from warpsmith.poly.aliasing.aliasing import relation
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import LoopFacts
from warpsmith.tree.nodes import (
    Assign,
    Block,
    Break,
    Call,
    Continue,
    Expr,
    For,
    Function,
    Index,
    Literal,
    MacroUse,
    Member,
    Name,
    Node,
    Pragma,
    Return,
    Stmt,
    Unary,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.printing.printer import print_type
from warpsmith.tree.text.layout import indent_at, indentation_unit, line_end, slice_text, starts_line
from warpsmith.tree.text.lexical import identifiers
from warpsmith.tree.types import Array, Pointer, Record, Scalar, Symbol
from warpsmith.tree.walk import names, peel, walk, written_symbols

__all__ = [
    "InsertionSite",
    "calls_program",
    "declare",
    "fresh",
    "function_start",
    "is_plain",
    "iterations_done",
    "keeps_start",
    "leaves_iteration",
    "may_meet",
    "operand",
    "place_of",
    "renamings",
    "trip_count",
    "with_edits",
]


class InsertionSite(Struct, frozen=True):
    """Where a loop stands: a list of statements can take others before it (its pragmas included) and behind it."""

    loop: For
    first: Span
    indent: str
    unit: str
    end: str

    @property
    def between(self) -> str:
        """What stands between the loop and a statement beside it: a line end, where the loop has lines of its own."""
        return self.end + self.indent if starts_line(self.first.file, self.first.start) else " "

    def before(self, lines: Iterable[str]) -> tuple[Edit, ...]:
        """Return the edit that puts `lines` in front of the loop."""
        text = "".join(f"{line}{self.between}" for line in lines)
        return (Edit(Span(self.first.file, self.first.start, self.first.start), text),) if text else ()

    def behind(self, lines: Iterable[str]) -> tuple[Edit, ...]:
        """Return the edit that puts `lines` behind the loop."""
        text = "".join(f"{self.between}{line}" for line in lines)
        end = self.loop.span.end
        return (Edit(Span(self.first.file, end, end), text),) if text else ()


def place_of(facts: Facts, known: LoopFacts) -> InsertionSite | None:
    """Return where a counted loop stands, or None where no statement may be put beside it."""
    loop = known.loop
    if not isinstance(loop, For):
        return None
    for block in (part for part in walk(known.function.body) if isinstance(part, Block)):
        for number, stmt in enumerate(block.statements):
            if stmt is loop:
                return _place(loop, block.statements[:number])
    return None


def _place(loop: For, earlier: tuple[Stmt, ...]) -> InsertionSite | None:
    first = loop.span
    for stmt in reversed(earlier):
        if not isinstance(stmt, Pragma):
            break
        first = stmt.span
    text = first.file.text
    if first.text[:1] == "#" and not starts_line(first.file, first.start):
        return None
    return InsertionSite(loop, first, indent_at(first.file, first.start), indentation_unit(text), line_end(text))


def is_plain(node: Node) -> bool:
    """Whether every name below `node` stands in the user's text as it is (an argument of a macro does, what its body
    names does not), and no pragma speaks of a part of it."""
    if any(isinstance(part, Verbatim | VerbatimExpr | Pragma) for part in walk(node)):
        return False
    used = (part for use in walk(node) if isinstance(use, MacroUse) for part in walk(use))
    if any(isinstance(part, Assign | Index | Member) for part in used):
        return False
    return all(name.span.text == name.symbol.name for name in names(node) if not _is_implied(name))


def _is_implied(name: Name) -> bool:
    """Whether a name does not stand in the text of C++: `this` of a member, the pointer that a reference is."""
    type = name.symbol.type
    return not name.span.text and (name.symbol.name == "this" or (isinstance(type, Pointer) and type.reference))


def calls_program(facts: Facts, node: Node) -> bool:
    """Whether anything below `node` calls what is no function of a known library."""
    return any(isinstance(part, Call) and facts.summaries.library(part) is None for part in walk(node))


def leaves_iteration(node: Node) -> bool:
    """Whether an iteration may end before its last statement."""
    return any(isinstance(part, Break | Continue | Return) for part in walk(node))


def renamings(node: Node, new: Mapping[Symbol, str]) -> tuple[Edit, ...]:
    """Return the edits that replace every use of the symbols of `new` below `node`; what a macro uses twice is one."""
    found = {n.span.start: Edit(n.span, new[n.symbol]) for n in names(node) if n.symbol in new}
    return tuple(found.values())


def with_edits(span: Span, edits: Iterable[Edit]) -> str:
    """Return the text of `span` with the edits that lie in it, its other lines outdented; edits inside another edit
    are left out."""
    pieces: list[str] = []
    position = span.start
    for edit in sorted(edits, key=lambda e: (e.span.start, -e.span.end)):
        if edit.span.start < position or edit.span.end > span.end:
            continue
        pieces += [span.file.text[position : edit.span.start], edit.text]
        position = edit.span.end
    text = "".join([*pieces, span.file.text[position : span.end]])
    made = replace(span, file=replace(span.file, text=span.file.text[: span.start] + text))
    return slice_text(replace(made, end=span.start + len(text)))


def fresh(span: Span, wanted: str) -> str:
    """Return `wanted`, with a number where the file has that word already."""
    taken = identifiers(span.file.text)
    return next(name for name in (wanted, *(f"{wanted}{k}" for k in range(2, 10_000))) if name not in taken)


def declare(type: Scalar, name: str) -> str:
    """Return the declaration of a variable of an arithmetic type that may be written."""
    return print_type(replace(type, const=False, volatile=False, spelling=_drop_qualifiers(type.spelling)), name)


def _drop_qualifiers(spelling: str) -> str:
    return " ".join(word for word in spelling.split() if word not in ("const", "volatile"))


def function_start(function: Function) -> Span:
    """Return the empty span in front of a function's text, where another definition may stand."""
    return Span(function.span.file, function.span.start, function.span.start)


def trip_count(loop: For) -> str:
    """Return how often a loop runs, as an expression that holds before and behind it."""
    lower, bound = operand(loop.lower), operand(loop.bound)
    last = loop.relation in ("<=", ">=")
    span = _difference(bound, lower, loop)
    if abs(loop.step) == 1:
        count = f"{span} + 1" if last else span
    else:
        count = f"({span}{'' if last else ' - 1'}) / {abs(loop.step)} + 1"
    return f"{lower} {loop.relation} {bound} ? {count} : 0"


def iterations_done(loop: For) -> str:
    """Return how many iterations of a loop come before the one that it is at, as an unsigned expression."""
    span = _difference(loop.variable.name, operand(loop.lower), loop)
    done = f"(unsigned long long){span if span == loop.variable.name else f'({span})'}"
    return done if abs(loop.step) == 1 else f"{done} / {abs(loop.step)}"


def _difference(end: str, start: str, loop: For) -> str:
    """Return how far a value of the counter lies behind its first one."""
    if loop.step < 0:
        return start if end == "0" else f"{start} - {end}"
    return end if start == "0" else f"{end} - {start}"


def keeps_start(loop: For) -> bool:
    """Whether the first value of a loop's counter, as written, is the same in the loop and behind it."""
    parts = tuple(walk(loop.lower))
    if any(isinstance(part, Call | Index | Member | Unary) and not _is_sign(part) for part in parts):
        return False
    return not {name.symbol for name in names(loop.lower)} & written_symbols(loop)


def _is_sign(part: Node) -> bool:
    return isinstance(part, Unary) and part.op in ("+", "-")


def operand(expr: Expr) -> str:
    """Return the text of an expression as an operand of any operator."""
    text = expr.span.text
    return text if isinstance(peel(expr), Name | Literal) else f"({text})"


def may_meet(facts: Facts, known: LoopFacts, one: Symbol, other: Symbol) -> bool:
    """Whether two pointers, arrays or records may lead to the same memory in the function of a loop."""
    if not isinstance(one.type, Pointer | Array | Record) or not isinstance(other.type, Pointer | Array | Record):
        return False
    return relation(facts.program, known.function, one, other, facts.summaries) != "distinct"
