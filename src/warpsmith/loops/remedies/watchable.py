"""Where a loop touches memory, as places of its text that can be watched while it runs.

    b[idx[i]] = a[i];      through idx: `idx[i]`; through b: `b[idx[i]]`; through a pointer that is passed on: not known
                           all of it: `b[idx[i]]` written, `idx[i]` and `a[i]` read

Invariant: the places are all of the loop's accesses (through the name), or None is returned.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.tree.nodes import (
    Assign,
    Call,
    DeclStmt,
    Expr,
    For,
    Index,
    Loop,
    MacroUse,
    Member,
    Name,
    Node,
    SizeOf,
    Unary,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import Array, Pointer, Record, Symbol
from warpsmith.tree.walk import children, peel, root_symbol, walk

__all__ = ["Touch", "find_accesses", "find_spots"]

_STEPS = ("++x", "--x", "x++", "x--")


class Touch(Struct, frozen=True):
    """One access of the text; `role`: it reads, or writes (and may read as well)."""

    span: Span
    role: Literal["read", "write"]


class _UnwatchableError(Exception):
    """A use of memory that cannot be watched."""


def find_spots(loop: Loop, name: str) -> tuple[Span, ...] | None:
    """Return the spans of the elements that a loop touches through a variable; None where some use of it is another
    one, or stands in a macro."""
    found: list[Span] = []
    return tuple(found) if _collect(loop, name, found) else None


def _collect(node: Node, name: str, found: list[Span]) -> bool:
    """Add the accesses below a node; return whether these are all uses of the name."""
    if isinstance(node, Verbatim | VerbatimExpr):
        return False
    if isinstance(node, MacroUse):
        return not any(isinstance(part, Name) and part.symbol.name == name for part in walk(node))
    if isinstance(node, Index):
        inner = peel(node.base)
        if isinstance(inner, Name) and inner.symbol.name == name:
            found.append(node.span)
            return _is_plain(node) and _collect(node.index, name, found)
    if isinstance(node, Name) and node.symbol.name == name:
        return False
    return all(_collect(child, name, found) for child in children(node))


def _is_plain(node: Expr) -> bool:
    """Whether the text of an access is the access, and can be put in brackets."""
    return not isinstance(node.type, Array | Pointer | Record) and node.intact and node.span.text.endswith("]")


def find_accesses(program: Program, loop: Loop) -> tuple[Touch, ...] | None:
    """Return all accesses of a loop to memory that iterations share, but for plain variables; None where it has calls
    of functions with text of their own, or that are given memory, or anything else that cannot be watched."""
    declared = {d.symbol for part in walk(loop.body) if isinstance(part, DeclStmt) for d in part.declarations}
    own = frozenset({f.symbol for _, f in program.functions()})
    found: list[Touch] = []
    try:
        for child in (loop.body,) if isinstance(loop, For) else children(loop):
            _Accesses(frozenset(declared), own, found).visit(child, "read")
    except _UnwatchableError:
        return None
    written = {touch.span for touch in found if touch.role == "write"}
    spans = dict.fromkeys(touch.span for touch in found)
    return tuple(Touch(span, "write" if span in written else "read") for span in spans)


class _Accesses(Struct, frozen=True):
    """Collects accesses; `declared`: what each iteration has for itself, `functions`: those with a text."""

    declared: frozenset[Symbol]
    functions: frozenset[Symbol]
    found: list[Touch]

    def visit(self, node: Node, role: Literal["read", "write"]) -> None:
        match node:
            case Verbatim() | VerbatimExpr() | MacroUse():
                if isinstance(node, MacroUse) and not any(_is_place(part) for part in walk(node)):
                    return
                raise _UnwatchableError
            case SizeOf(value=int()):
                return
            case Assign(target=target, value=value):
                self.visit(target, "write")
                self.visit(value, "read")
            case Unary(op=op, operand=operand) if op in _STEPS:
                self.visit(operand, "write")
            case Unary(op="&"):
                raise _UnwatchableError
            case Call():
                self._call(node)
            case Index() | Member() | Unary(op="*"):
                self._place(node, role)
            case _:
                for child in children(node):
                    self.visit(child, "read")

    def _call(self, call: Call) -> None:
        called = direct_call(call)
        if called is None or called in self.functions:
            raise _UnwatchableError
        if any(isinstance(argument.type, Pointer | Array | Record) for argument in call.arguments):
            raise _UnwatchableError
        for argument in call.arguments:
            self.visit(argument, "read")

    def _place(self, place: Expr, role: Literal["read", "write"]) -> None:
        if isinstance(place.type, Array) or not place.intact:
            raise _UnwatchableError
        root = root_symbol(place)
        pointer = root is not None and isinstance(root.type, Pointer)
        if root not in self.declared or pointer:
            self.found.append(Touch(place.span, role))
        self._below(place)

    def _below(self, place: Expr) -> None:
        """Visit what a place is reached through: a pointer is read, an array or a struct is only where it lies."""
        match place:
            case Index(base=base, index=index):
                self.visit(index, "read")
                self._through(base)
            case Member(base=base, arrow=arrow):
                if arrow:
                    self.visit(base, "read")
                else:
                    self._through(base)
            case Unary(operand=operand):
                self.visit(operand, "read")
            case _:
                self.visit(place, "read")

    def _through(self, base: Expr) -> None:
        bare = peel(base)
        if isinstance(bare.type, Pointer) or not isinstance(bare, Index | Member | Unary):
            self.visit(bare, "read")
        else:
            self._below(bare)


def _is_place(node: Node) -> bool:
    return isinstance(node, Index | Member) or (isinstance(node, Unary) and node.op in ("*", "&"))
