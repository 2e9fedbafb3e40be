"""Statements in which walking variables are written as where they start and how far they have come.

    p at a, k iterations done       *p++ = i;  p[1]      a[k] = k;  a[k + 2]

Invariant: at every place of the new statements the expression written for a walker has the value that the walker has
there in the old ones; moves are gone.
Limits: in a statement that moves a walker, it is named there only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct, field

from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.loops.analysis.substitute import copy_tree
from warpsmith.loops.linear import number
from warpsmith.loops.walking_loops import moved_by, unconditional_moves
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Break,
    Cast,
    Continue,
    Expr,
    ExprStmt,
    For,
    If,
    Index,
    Literal,
    Member,
    Name,
    Node,
    Stmt,
    Switch,
    Unary,
    While,
    replace,
)
from warpsmith.tree.types import LONG_LONG, Pointer, Scalar, Symbol, common_type
from warpsmith.tree.walk import children, names, peel, rebuild

__all__ = ["WalkerPlace", "add", "find_twice", "left_at", "sum_of", "write_value", "write_walked"]


Run = tuple[Stmt, ...]


class WalkerPlace(Struct, frozen=True):
    """Where a walker is at the begin of an iteration: at `base`, or `base` and `far` elements (numbers) further."""

    base: Expr | None
    far: Expr | None


def write_value(symbol: Symbol, place: WalkerPlace, ahead: int, span: Span) -> Expr:
    """Return the value of a walker that has moved `ahead` since the iteration began."""
    return _Writer({symbol: place}, {symbol: ahead}).value(symbol, span)


def write_walked(
    run: tuple[Stmt, ...], places: Mapping[Symbol, WalkerPlace], moved: Mapping[Symbol, int]
) -> tuple[Stmt, ...]:
    """Return the statements of an iteration; `moved`: how far the test in front of them has moved walkers."""
    ahead = {symbol: moved.get(symbol, 0) for symbol in places}
    return tuple(new for stmt in run for new in _write(stmt, places, ahead))


def left_at(
    run: tuple[Stmt, ...], moved: Mapping[Symbol, int], kind: type[Break] | type[Continue]
) -> Iterator[tuple[Stmt, dict[Symbol, int]]]:
    """Yield the statements in which an iteration is left by `break` or `continue`, with how far it has moved there."""
    ahead = dict(moved)
    for stmt in run:
        for symbol, by in _moves(stmt):
            ahead[symbol] = ahead.get(symbol, 0) + by
        if any(True for _ in _jumps(stmt, kind)):
            yield stmt, dict(ahead)


def find_twice(run: tuple[Stmt, ...]) -> Reason | None:
    """Return a statement that names a walker besides where it moves it, or None."""
    for stmt in run:
        for move in unconditional_moves(stmt):
            moved = moved_by(move)
            part: Node = stmt.condition if isinstance(stmt, If) else stmt
            uses = sum(n.symbol == moved[0] for n in names(part)) if moved is not None else 0
            if moved is not None and uses != sum(n.symbol == moved[0] for n in names(move)):
                return Reason("STP002", f"{moved[0].name} is moved and used in one statement", stmt.span)
    return None


def add(left: Expr | None, right: Expr | None, span: Span) -> Expr | None:
    """Return the sum of two numbers, of which None is zero."""
    return (right if left is None else left) if left is None or right is None else _sum(left, right, span, None)


def sum_of(left: Expr, right: Expr, span: Span) -> Expr:
    """Return the sum of two numbers, in 64 bits."""
    return _sum(left, right, span, LONG_LONG)


def _sum(left: Expr, right: Expr, span: Span, least: Scalar | None) -> Expr:
    left, right = copy_tree(left), copy_tree(right)
    type, op, bare = common_type(left.type, right.type), "+", peel(right)
    if isinstance(bare, Unary) and bare.op == "-":
        op, right = "-", bare.operand
    if least is not None and isinstance(type, Scalar) and type.bits < least.bits:
        type, left = least, Cast(span=span, type=least, operand=left)
    return Binary(span=span, type=type, op=op, left=left, right=right)


def _write(stmt: Stmt, places: Mapping[Symbol, WalkerPlace], ahead: dict[Symbol, int]) -> Iterator[Stmt]:
    moves = [*_moves(stmt)]
    whole = isinstance(stmt, ExprStmt) and _is_moves(stmt.expr)
    late = {s: by for s, by, after in _timed_moves(stmt) if after}
    for symbol, by in moves:
        ahead[symbol] += by
    if whole:
        return
    now = {s: by - late.get(s, 0) for s, by in ahead.items()}
    if isinstance(stmt, If) and moves:
        arms = _Writer(places, dict(ahead))
        other = None if stmt.other is None else rebuild(stmt.other, arms.change)
        condition = rebuild(stmt.condition, _Writer(places, now).change)
        yield replace(stmt, condition=condition, then=rebuild(stmt.then, arms.change), other=other)
        return
    yield rebuild(stmt, _Writer(places, now).change)


def _moves(stmt: Stmt) -> Iterator[tuple[Symbol, int]]:
    for move in unconditional_moves(stmt):
        moved = moved_by(move)
        if moved is not None:
            yield moved


def _timed_moves(stmt: Stmt) -> Iterator[tuple[Symbol, int, bool]]:
    """Yield what a statement moves, by how much, and whether it reads the value before."""
    for move in unconditional_moves(stmt):
        moved = moved_by(move)
        if moved is not None:
            yield (*moved, isinstance(move, Unary) and move.op in ("x++", "x--"))


def _is_moves(expr: Expr) -> bool:
    """Whether an expression does nothing but move."""
    bare = peel(expr)
    if isinstance(bare, Binary) and bare.op == ",":
        return _is_moves(bare.left) and _is_moves(bare.right)
    return moved_by(bare) is not None


def _jumps(node: Node, kind: type[Break] | type[Continue]) -> Iterator[Node]:
    """Yield the statements of a kind that belong to the loop around `node`."""
    if isinstance(node, kind):
        yield node
    elif not isinstance(node, For | While) and not (isinstance(node, Switch) and kind is Break):
        for child in children(node):
            yield from _jumps(child, kind)


class _Writer(Struct, frozen=True):
    """Writes values of walkers; `made`: by identity, what was written for pointers as base and number, and for numbers
    as they are before they are converted."""

    places: Mapping[Symbol, WalkerPlace]
    ahead: Mapping[Symbol, int]
    made: dict[int, tuple[Expr, Expr | None, Expr]] = field(default_factory=dict)

    def change(self, node: Node) -> Node:
        if isinstance(node, Name) and node.symbol in self.places:
            return self.value(node.symbol, node.span)
        if isinstance(node, Unary) and (made := self.find(node.operand)) is not None:
            if "++" in node.op or "--" in node.op:
                return made[2]
            return self.element(made, node) if node.op == "*" else node
        if isinstance(node, Assign) and (made := self.find(node.target)) is not None:
            return made[2]
        if isinstance(node, Index):
            return self.change_index(node)
        if isinstance(node, Member) and node.arrow and (made := self.find(node.base)) is not None:
            return replace(node, base=self.element(made, node), arrow=False)
        return node

    def value(self, symbol: Symbol, span: Span) -> Expr:
        place, ahead = self.places[symbol], self.ahead[symbol]
        base = None if place.base is None else copy_tree(place.base)
        if not isinstance(symbol.type, Pointer):
            plain = _shift(add(base, place.far, span), ahead, span)
            new = plain if plain.type == symbol.type else Cast(span=span, type=symbol.type, operand=plain)
            self.made[id(new)] = (plain, None, new)
            return new
        assert base is not None, "a pointer starts somewhere"
        if place.far is None and not ahead:
            far, new = None, base
        else:
            far = _shift(None if place.far is None else copy_tree(place.far), ahead, span)
            negative = isinstance(far, Unary) and far.op == "-"
            op, by = ("-", far.operand) if isinstance(far, Unary) and negative else ("+", far)
            new = Binary(span=span, type=symbol.type, op=op, left=base, right=by)
        self.made[id(new)] = (base, far, new)
        return new

    def find(self, expr: Expr) -> tuple[Expr, Expr | None, Expr] | None:
        return self.made.get(id(peel(expr)))

    def change_index(self, node: Index) -> Node:
        base, index = self.find(node.base), self.find(node.index)
        if index is not None and not isinstance(index[2].type, Pointer):
            node = replace(node, index=index[0])
        if base is None:
            return node
        bare = peel(node.index)
        zero = isinstance(bare, Literal) and bare.value == 0 and base[1] is not None
        far = base[1] if zero else node.index if base[1] is None else sum_of(base[1], node.index, node.span)
        assert far is not None
        return replace(node, base=base[0], index=far)

    def element(self, made: tuple[Expr, Expr | None, Expr], node: Unary | Member) -> Expr:
        base, far, whole = made
        type = whole.type
        assert isinstance(type, Pointer), "only pointers lead to elements"
        return Index(span=node.span, type=type.to, base=base, index=number(0, node.span) if far is None else far)


def _shift(expr: Expr | None, by: int, span: Span) -> Expr:
    if expr is None or not by:
        return number(by, span) if expr is None else expr
    bare = peel(expr)
    if isinstance(bare, Literal) and isinstance(bare.value, int):
        return number(bare.value + by, span)
    type = common_type(expr.type, number(1, span).type)
    return Binary(span=span, type=type, op="+" if by > 0 else "-", left=expr, right=number(abs(by), span))
