"""What an expression in the body of a loop is as a function of the iteration alone, free of the body's temporaries.

    t = a[i] * 2;          t              is a[i] * 2
    a[i] = 0;              a[i] + t       is none: its a[i] is read behind a write, that of t before it
    s += t;

Invariant: the answer has the same value wherever it is evaluated before the first write of its iteration.
Limits: temporaries that straight-line statements set; arrays by their names, so that another element that is written
before counts as if it were the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.poly.dependences.in_place import hide_own
from warpsmith.poly.dependences.updates import has_effect
from warpsmith.poly.effects.library import is_pure
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.tree.nodes import (
    Assign,
    Call,
    Cast,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    Index,
    Name,
    Node,
    Stmt,
    Unary,
)
from warpsmith.tree.types import Array, Pointer, Scalar, Symbol
from warpsmith.tree.walk import names, peel, rebuild, root_symbol, walk, written_symbols

__all__ = ["IterationBody", "only_computes"]


class _Definition(Struct, frozen=True):
    """What a temporary holds, and the statements of the body in which that was read."""

    value: Expr
    read_in: frozenset[int]


class IterationBody(Struct, frozen=True):
    """The body of a loop with the running value `symbol`, which is updated at `span`; `own`: in place, the element of
    the iteration, which may be read until then."""

    loop: For
    symbol: Symbol
    summaries: Summaries
    span: Span
    own: Index | None = None

    def free(self, expr: Expr, path: Sequence[Stmt], place: int) -> Expr | Reason:
        """Return what an expression of statement `place` of a path through the body is as a function of the iteration
        alone, free of the body's temporaries, or why it is none."""
        element, read_in = _resolve_value(expr, _definitions(path[:place]), place)
        written = written_symbols(self.loop.body)
        name = self.symbol.name
        for node in walk(element if self.own is None else hide_own(element, self.own)):
            if isinstance(node, Name) and (node.symbol in written or node.symbol == self.symbol):
                other = node.symbol.name
                text = f"what is combined with {name} depends on {other}, which the iteration computes"
                return Reason("POR002", text, self.span)
            if has_effect(node) or (isinstance(node, Call) and not only_computes(node, self.summaries)):
                text = f"what is combined with {name} calls a function or changes something"
                return Reason("POR002", text, self.span)
        early = _find_written_before(path, element, read_in, self.summaries)
        if early is not None:
            text = f"{early.name} is written before the iteration reads what it combines with {name}"
            return Reason("POR002", text, self.span)
        return element


def only_computes(call: Call, summaries: Summaries) -> bool:
    """Whether a call only reads what its arguments point to, and returns a value."""
    symbol = direct_call(call)
    known = summaries.summary(symbol) if symbol is not None and symbol in summaries.definitions else None
    if symbol is None or known is None:
        return is_pure(call)
    changes = known.writes or known.stores or known.io or known.asserts or known.allocates or known.calls_unknown
    own = summaries.parameters(symbol)
    return not changes and not known.reads and all(r.kind == "entry" and r.symbol in own for r in known.loads)


def _definitions(statements: Sequence[Stmt]) -> dict[Symbol, _Definition]:
    """Return what straight-line statements have given scalars."""
    known: dict[Symbol, _Definition] = {}
    for place, stmt in enumerate(statements):
        made = list(_find_given(stmt))
        for gone in written_symbols(stmt):
            known = {s: d for s, d in known.items() if s != gone and all(n.symbol != gone for n in names(d.value))}
        for symbol, value in made:
            resolved, read_in = _resolve_value(value, known, place)
            pure = not any(has_effect(n) for n in walk(value)) and all(n.symbol != symbol for n in names(resolved))
            if isinstance(symbol.type, Scalar) and pure:
                typed = resolved.type == symbol.type
                cast = resolved if typed else Cast(span=value.span, type=symbol.type, operand=resolved)
                known[symbol] = _Definition(cast, read_in)
    return known


def _find_given(stmt: Stmt) -> Iterator[tuple[Symbol, Expr]]:
    if isinstance(stmt, DeclStmt):
        yield from ((d.symbol, d.init) for d in stmt.declarations if d.init is not None)
    inner = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
    target = peel(inner.target) if isinstance(inner, Assign) and inner.op == "=" else None
    if isinstance(inner, Assign) and isinstance(target, Name):
        yield target.symbol, inner.value


def _resolve_value(expr: Expr, known: dict[Symbol, _Definition], place: int) -> tuple[Expr, frozenset[int]]:
    read_in = {place}

    def change(node: Node) -> Node:
        if not isinstance(node, Name) or node.symbol not in known:
            return node
        read_in.update(known[node.symbol].read_in)
        return known[node.symbol].value

    return rebuild(expr, change), frozenset(read_in)


def _find_written_before(
    body: Sequence[Stmt], element: Expr, read_in: frozenset[int], summaries: Summaries
) -> Symbol | None:
    """Return an array that the element reads and that the body writes before it has read all of the element."""
    read = {root_symbol(n) for n in walk(element) if isinstance(n, Index)}
    calls = (n for n in walk(element) if isinstance(n, Call))
    read |= {n.symbol for call in calls for n in names(call) if isinstance(n.symbol.type, Array | Pointer)}
    if any(isinstance(n, Unary) and n.op == "*" for n in walk(element)):
        read |= {n.symbol for n in names(element)}
    for place, stmt in enumerate(body):
        stored = tuple(_find_stored(stmt, summaries))
        # an assignment reads what it needs before it stores
        behind = place + 1 if len(stored) == 1 and _assigns_last(stmt) else place
        for symbol in stored:
            if symbol in read and any(behind <= p for p in _readers(body, symbol, read_in)):
                return symbol
    return None


def _assigns_last(stmt: Stmt) -> bool:
    return isinstance(stmt, ExprStmt) and isinstance(peel(stmt.expr), Assign)


def _readers(body: Sequence[Stmt], symbol: Symbol, read_in: frozenset[int]) -> Iterator[int]:
    return (p for p in read_in if any(n.symbol == symbol for n in names(body[p])))


def _find_stored(stmt: Stmt, summaries: Summaries) -> Iterator[Symbol]:
    """Yield what a statement writes elements of; all that a call names may be written by it, if it is not known to
    write nothing."""
    for node in walk(stmt):
        target: Expr | None = None
        if isinstance(node, Assign):
            target = node.target
        elif isinstance(node, Unary) and ("++" in node.op or "--" in node.op):
            target = node.operand
        elif isinstance(node, Call) and not only_computes(node, summaries):
            passed = [a for a in node.arguments if isinstance(a.type, Array | Pointer)]
            yield from (n.symbol for a in passed for n in names(a) if isinstance(n.symbol.type, Array | Pointer))
        symbol = root_symbol(target) if target is not None else None
        if symbol is not None and not isinstance(peel(target) if target is not None else None, Name):
            yield symbol
