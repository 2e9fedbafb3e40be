"""A moving pointer as a subscript: see IndexPointer.

    while it runs    p                  p was here before the loop, and p_at says how far it is from there
    *p++ = x;        p[p_at++] = x;
    p[-1] = p[0];    p[p_at - 1] = p[p_at];
    behind it        p += p_at;

Invariant: p + p_at is at every place of the new loop what p is there in the old one.
Limits: p is a variable that nothing else can reach; it moves by ++, --, += and -= only.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct, field

from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.loops.analysis.shape import does_not_fit, find_marked
from warpsmith.loops.analysis.substitute import fixed_text
from warpsmith.loops.analysis.uses import mentions, variable
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.linear import number, use
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.writing.storage import after, before
from warpsmith.poly.analyze import Facts
from warpsmith.poly.effects.origin import own_writes
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    Index,
    Literal,
    Member,
    Name,
    Node,
    Stmt,
    Unary,
    VarDecl,
    replace,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import LONG_LONG, Pointer, Symbol, is_integer
from warpsmith.tree.walk import peel, rebuild, walk

__all__ = ["IndexPointer"]

_STEPS = ("++x", "--x", "x++", "x--")


class IndexPointer(Struct, frozen=True):
    """Count how far a pointer has moved, and subscript where it stood before the loop.

    Legal where the pointer only moves by ++, --, += and -= in the loop, and nothing else can reach it. What it is after
    the loop is restored.

    Step: loop=f/i variable=p

    Before:
        float *f(int n, const float *restrict x, float *restrict p)
        {
            for (int i = 0; i < n; i++)
                if (x[i] > 0.0f)
                    *p++ = x[i];
            return p;
        }

    After:
        float *f(int n, const float *restrict x, float *restrict p)
        {
            long long p_at = 0;
            for (int i = 0; i < n; i++)
                if (x[i] > 0.0f)
                    p[p_at++] = x[i];
            p += p_at;
            return p;
        }
    """

    name: ClassVar[str] = "index-pointer"

    loop: str
    variable: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether every move of the pointer can be counted."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        symbol = _pointer(place, self.variable)
        if isinstance(symbol, Reason):
            return Unknown((symbol,))
        if symbol in facts.origin(place.function).hidden or symbol.storage not in ("local", "parameter"):
            return does_not_fit(f"{symbol.name} may be read or changed elsewhere", loop)
        if find_marked(place.function, loop) is not None:
            return does_not_fit("a pragma tells the compiler about this loop", loop, "remove the pragma")
        if any(mentions(expr, symbol) for expr in (loop.lower, loop.bound)):
            return does_not_fit(f"the loop's bounds use {symbol.name}", loop)
        fixed = fixed_text(loop.body, frozenset({symbol}))
        return Proved() if fixed is None else does_not_fit(f"{symbol.name} is named where it must stay", fixed)

    def apply(self, program: Program) -> Program:
        """Return the program with a count of its own for the pointer's moves."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        symbol = _pointer(place, self.variable)
        assert not isinstance(symbol, Reason)
        count = Fresh.of(program).variable(f"{symbol.name}_at", LONG_LONG, symbol)
        zero = number(0, before(loop.span))
        declared = VarDecl(span=zero.span, symbol=count, init=zero)
        run: list[Stmt] = [DeclStmt(span=zero.span, declarations=(declared,)), _count_moves(loop, symbol, count)]
        if symbol in Facts.about(program, PolyOptions()).liveness(place.function).after[loop]:
            run.append(_restore_pointer(symbol, count, after(loop.span)))
        return with_run(program, place.function, (loop,), tuple(run))


def _pointer(place: LoopContext, name: str) -> Symbol | Reason:
    """Return the pointer, or why its moves cannot be counted."""
    loop = place.require_counted()
    symbol = variable(place, name)
    if isinstance(symbol, Reason):
        return symbol
    if not isinstance(symbol.type, Pointer) or symbol.type.reference:
        return Reason("STP002", f"{name} is no pointer", loop.header)
    writes = [n for n in walk(loop.body) if symbol in own_writes(n)]
    if not writes:
        return Reason("STP002", f"{name} does not move in the loop", loop.header)
    other = next((n for n in writes if not _is_move(n)), None)
    if other is not None:
        return Reason("STP002", f"{name} is set to another place in the loop", other.span)
    return symbol


def _is_move(node: Node) -> bool:
    if isinstance(node, Unary):
        return node.op in _STEPS
    return isinstance(node, Assign) and node.op in ("+=", "-=") and is_integer(node.value.type)


def _count_moves(loop: For, symbol: Symbol, count: Symbol) -> For:
    """Return the loop with `symbol[count]` in place of what the moving pointer points to."""
    writer = _Writer(symbol, count)
    return replace(loop, body=rebuild(loop.body, writer.change))


class _Writer(Struct, frozen=True):
    """Writes `symbol + count` for the pointer, and what is shorter where that is pointed through or only moved; `made`:
    by identity, the sums written so far."""

    symbol: Symbol
    count: Symbol
    made: dict[int, Expr] = field(default_factory=dict)

    def change(self, node: Node) -> Node:
        if isinstance(node, Name) and node.symbol == self.symbol:
            return self.sum(use(self.count, node.span), node.span)
        if isinstance(node, Unary) and (place := self.count_in(node.operand)) is not None:
            return self.change_unary(node, place)
        if isinstance(node, Assign) and (place := self.count_in(node.target)) is not None:
            return self.sum(replace(node, type=LONG_LONG, target=place), node.span)
        if isinstance(node, Index | Member) and (place := self.count_in(node.base)) is not None:
            return self.change_element(node, place)
        if isinstance(node, ExprStmt) and (place := self.count_in(node.expr)) is not None:
            return replace(node, expr=place)
        return node

    def change_unary(self, node: Unary, place: Expr) -> Node:
        if node.op in _STEPS:
            moved = Unary(span=node.span, type=LONG_LONG, op=node.op, operand=place)
            return self.sum(moved, node.span)
        return self.element(place, node) if node.op == "*" else node

    def change_element(self, node: Index | Member, place: Expr) -> Node:
        if isinstance(node, Index):
            return replace(node, base=use(self.symbol, node.span), index=_add(place, node.index))
        return replace(node, base=self.element(place, node), arrow=False)

    def element(self, place: Expr, node: Node) -> Expr:
        type = self.symbol.type
        assert isinstance(type, Pointer), "the step is about a pointer"
        return Index(span=node.span, type=type.to, base=use(self.symbol, node.span), index=place)

    def sum(self, place: Expr, span: Span) -> Expr:
        new = Binary(span=span, type=self.symbol.type, op="+", left=use(self.symbol, span), right=place)
        self.made[id(new)] = new
        return new

    def count_in(self, expr: Expr) -> Expr | None:
        """Return c where an expression is a `symbol + c` that was written here."""
        inner = peel(expr)
        return inner.right if isinstance(inner, Binary) and id(inner) in self.made else None


def _add(place: Expr, more: Expr) -> Expr:
    inner = peel(more)
    if isinstance(inner, Literal) and inner.value == 0:
        return place
    return Binary(span=more.span, type=LONG_LONG, op="+", left=place, right=more)


def _restore_pointer(symbol: Symbol, count: Symbol, span: Span) -> Stmt:
    target = use(symbol, span)
    assigned = Assign(span=span, type=symbol.type, op="+=", target=target, value=use(count, span))
    return ExprStmt(span=span, expr=assigned)
