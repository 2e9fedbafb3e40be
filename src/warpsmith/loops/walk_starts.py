"""Where walking variables start, and how far it is from there to where they stop.

    const float *end = a + n;
    for (p = a; p != end; ++p) …          p starts at a, and stops n elements from there

Invariant: a value that is found here is the variable's value where the loop is reached; it is made of variables that
have not changed since.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from warpsmith.loops.place import LoopContext
from warpsmith.poly.dependences.updates import has_effect
from warpsmith.poly.effects.origin import own_writes
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Case,
    Cast,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    Index,
    Literal,
    MacroUse,
    Name,
    Node,
    Stmt,
    Unary,
    VarDecl,
    Verbatim,
)
from warpsmith.tree.types import Array, Pointer, Scalar, Symbol, is_integer
from warpsmith.tree.walk import children, names, peel, walk, written_symbols

__all__ = ["Anchor", "Starts", "is_plain"]


class Anchor(Struct, frozen=True):
    """A place in memory: `far` elements (None: none) from where the variable `root` leads to."""

    root: Symbol
    far: Expr | None


class Starts(Struct, frozen=True):
    """What is known where one loop is reached; `setup` are the statements of its own in front of it."""

    place: LoopContext
    setup: tuple[Stmt, ...]
    hidden: frozenset[Symbol]

    def of(self, symbol: Symbol) -> Expr | None:
        """Return what a variable is set to right in front of the loop; None where that is not known."""
        later: set[Symbol] = set()
        for stmt in reversed((*self._above(), *self.setup)):
            value = _set_value(stmt, symbol)
            if value is not None:
                own = {n.symbol for n in names(value)}
                known = is_plain(value) and _is_calm(stmt) and not own & (later | self.hidden | {symbol})
                return value if known and all(map(_is_own, own)) else None
            if symbol in written_symbols(stmt) or not _is_simple(stmt):
                return None
            later |= written_symbols(stmt)
        return None

    def anchor(self, expr: Expr) -> Anchor | None:
        """Return the place in memory that an expression of pointers is."""
        bare = peel(expr)
        match bare:
            case Name(symbol=symbol) if isinstance(symbol.type, Pointer | Array):
                value = self._defined(symbol)
                found = None if value is None else self.anchor(value)
                return found or Anchor(symbol, None)
            case Binary(op="+", left=left, right=right):
                if not isinstance(peel(left).type, Pointer | Array):
                    left, right = right, left
                return self._further(left, right)
            case Unary(op="&", operand=operand):
                element = peel(operand)
                return self._further(element.base, element.index) if isinstance(element, Index) else None
            case _:
                return None

    def _further(self, base: Expr, by: Expr) -> Anchor | None:
        found = self.anchor(base)
        if found is None or not is_plain(by) or not is_integer(peel(by).type):
            return None
        if found.far is None:
            return Anchor(found.root, by)
        return None

    def _defined(self, symbol: Symbol) -> Expr | None:
        """Return the value that a pointer has from its declaration on, if that is still the same expression's value."""
        declared = [n for n in walk(self.place.function.body) if isinstance(n, VarDecl) and n.symbol == symbol]
        value = declared[0].init if len(declared) == 1 else None
        if value is None or not is_plain(value):
            return None
        return value if all(self._stays(s) for s in {symbol, *_names_of(value)}) else None

    def _stays(self, symbol: Symbol) -> bool:
        """Whether a variable is written by its declaration alone, and in the loop, which runs once."""
        if symbol.storage not in ("local", "parameter") or symbol in self.hidden:
            return isinstance(symbol.type, Array)
        loop = self.place.loop
        inside = {id(n) for n in walk(loop)}
        for node in walk(self.place.function.body):
            writes = own_writes(node) | ({node.variable} if isinstance(node, For) else set())
            if isinstance(node, Verbatim) and node.control:
                return False
            if symbol in writes and (self.place.around or id(node) not in inside):
                return False
        return True

    def _above(self) -> tuple[Stmt, ...]:
        """Return the statements in front of the loop in its block."""
        for node in walk(self.place.function.body):
            run = node.statements if isinstance(node, Block) else node.body if isinstance(node, Case) else ()
            at = next((k for k, s in enumerate(run) if s is self.place.loop), None)
            if at is not None:
                return run[:at] if isinstance(node, Block) else ()
        return ()


def _set_value(stmt: Stmt, symbol: Symbol) -> Expr | None:
    if isinstance(stmt, DeclStmt):
        return next((d.init for d in stmt.declarations if d.symbol == symbol), None)
    inner = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
    target = peel(inner.target) if isinstance(inner, Assign) and inner.op == "=" else None
    return inner.value if isinstance(inner, Assign) and isinstance(target, Name) and target.symbol == symbol else None


def _is_own(symbol: Symbol) -> bool:
    """Whether nothing but the function changes a variable, where its address is not known."""
    return symbol.storage in ("local", "parameter", "enumerator") or isinstance(symbol.type, Array)


def _is_calm(stmt: Stmt) -> bool:
    """Whether a statement changes nothing but what it declares or sets."""
    values = [d.init for d in stmt.declarations if d.init is not None] if isinstance(stmt, DeclStmt) else []
    return not any(has_effect(n) or isinstance(n, Call) for value in values for n in walk(value))


def _names_of(expr: Expr) -> Iterator[Symbol]:
    return (n.symbol for n in names(expr))


def _is_simple(stmt: Stmt) -> bool:
    """Whether control passes from a statement to the next one."""
    return isinstance(stmt, DeclStmt | ExprStmt)


def is_plain(expr: Expr) -> bool:
    """Whether an expression is made of numbers, variables and addresses of elements alone: it reads no memory."""
    pending: list[Node] = [expr]
    while pending:
        part = pending.pop()
        match part:
            case Literal() | Name():
                if isinstance(part.type, Scalar) and part.type.volatile:
                    return False
            case Unary(op="&", operand=operand) if isinstance(element := peel(operand), Index):
                pending += [element.base, element.index]
            case Cast() | Binary(op="+" | "-" | "*") | Unary(op="+" | "-") | MacroUse():
                pending += children(part)
            case _:
                return False
    return True
