"""Statements with variables in place of elements of arrays: what loads them in front, and what stores them behind.

    C[i][j] *= beta;                     double C_value = C[i][j];
    for (k …) C[i][j] += …;          →   C_value *= beta;
                                         for (k …) C_value += …;
                                         C[i][j] = C_value;

Invariant: a load stands directly in front of the run of its element, the store directly behind; a loop that may do
nothing stands with both below an `if`, and where the run touches the element under further conditions, load and store
are made under these. Nothing else changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import msgspec.structs
from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.loops.analysis.substitute import copy_tree
from warpsmith.loops.linear import number, use
from warpsmith.loops.replaceable import Replacement
from warpsmith.loops.writing.storage import after, before
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Conditional,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    If,
    Node,
    Stmt,
    VarDecl,
    While,
    replace,
)
from warpsmith.tree.types import INT, Scalar, Symbol
from warpsmith.tree.walk import peel, rebuild, same

__all__ = ["with_variables"]

NewVariable = Callable[[Replacement, Scalar], Symbol]
"""Makes the variable of one element, of the given type."""


def with_variables(
    statements: Sequence[Stmt], replacements: Sequence[Replacement], variable: NewVariable
) -> tuple[Stmt, ...]:
    """Return `statements` with the elements of all `replacements` in variables."""
    if not replacements:
        return tuple(statements)
    kept = tuple(_Kept(one, variable(one, msgspec.structs.replace(one.type, const=False))) for one in replacements)
    moved = _Writer(kept).write(tuple(statements))
    symbols = {id(node): one.symbol for one in kept for node in one.replacement.nodes}
    return tuple(rebuild(stmt, lambda node: _use_variable(node, symbols)) for stmt in moved)


def _use_variable(node: Node, symbols: Mapping[int, Symbol]) -> Node:
    symbol = symbols.get(id(node))
    return node if symbol is None else use(symbol, node.span)


class _Kept(Struct, frozen=True):
    """An element with its variable."""

    replacement: Replacement
    symbol: Symbol

    def load(self) -> Stmt:
        """Return the declaration in front of the run."""
        one = self.replacement
        span = before(one.run[0].span)
        value, test = copy_tree(one.place) if one.loaded else number(0, span), self.test()
        if test is not None and one.loaded:
            zero = number(0, span)
            value = Conditional(span=span, type=self.symbol.type, condition=test, then=value, other=zero)
        return _declare(self.symbol, value, span)

    def test(self) -> Expr | None:
        """Return whether the run touches the element."""
        tests = [copy_tree(condition) for condition in self.replacement.conditions]
        return reduce(_both, tests) if tests else None

    def store(self) -> Stmt:
        """Return the store behind the run."""
        span = after(self.replacement.run[-1].span)
        place = copy_tree(self.replacement.place)
        stored = Assign(span=span, type=self.symbol.type, op="=", target=place, value=use(self.symbol, span))
        done, test = ExprStmt(span=span, expr=stored), self.test()
        return done if test is None else If(span=span, condition=test, then=done, other=None)

    def first(self, stmt: Stmt) -> Stmt:
        """Return the statement that gives the element its first value as the variable's declaration."""
        whole = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
        assert isinstance(whole, Assign), "the run begins with an assignment"
        return _declare(self.symbol, whole.value, stmt.span)


class _Writer(Struct, frozen=True):
    """Adds loads and stores; the nodes of the elements stay, to be replaced when all is in its place."""

    kept: tuple[_Kept, ...]

    def write(self, run: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """Return the statements of one block."""
        written: list[Stmt] = []
        for stmt in run:
            starting = [k for k in self.kept if k.replacement.run[0] is stmt]
            ending = [k for k in self.kept if k.replacement.run[-1] is stmt]
            plain = [k for k in starting if not k.replacement.entry]
            written += [k.load() for k in plain if not k.replacement.given]
            given = [k for k in plain if k.replacement.given]
            inner = given[0].first(stmt) if given else self.below(stmt)
            written += self.guarded((inner,), [k for k in starting if k.replacement.entry])
            written += [k.store() for k in ending if not k.replacement.entry and k.replacement.stored]
        return tuple(written)

    def guarded(self, run: tuple[Stmt, ...], kept: Sequence[_Kept]) -> tuple[Stmt, ...]:
        """Return a loop with the elements that it may not come to touch: those with the same ones together."""
        if not kept:
            return run
        test = kept[0].replacement.entry
        alike = [k for k in kept if _are_same(k.replacement.entry, test)]
        loads = [k.load() for k in alike]
        stores = [k.store() for k in alike if k.replacement.stored]
        span = kept[0].replacement.run[0].span
        then = Block(span=span, statements=(*loads, *run, *stores))
        copies = [copy_tree(condition) for condition in test]
        chosen = If(span=span, condition=reduce(_both, copies), then=then, other=None)
        return self.guarded((chosen,), [k for k in kept if k not in alike])

    def below(self, stmt: Stmt) -> Stmt:
        """Return a statement with what is added inside."""
        match stmt:
            case Block(statements=statements):
                new = self.write(statements)
                return stmt if _unchanged(new, statements) else replace(stmt, statements=new)
            case For(body=body) | While(body=body):
                inner = self.body(body)
                return stmt if inner is body else replace(stmt, body=inner)
            case If(then=then, other=other):
                arm, rest = self.body(then), None if other is None else self.body(other)
                return stmt if arm is then and rest is other else replace(stmt, then=arm, other=rest)
            case _:
                return stmt

    def body(self, body: Stmt) -> Stmt:
        """Return the body of a loop or a branch, in braces where it has become several statements."""
        if isinstance(body, Block):
            return self.below(body)
        new = self.write((body,))
        return new[0] if len(new) == 1 else Block(span=body.span, statements=new)


def _unchanged(new: tuple[Stmt, ...], old: tuple[Stmt, ...]) -> bool:
    return len(new) == len(old) and all(a is b for a, b in zip(new, old, strict=True))


def _are_same(one: Sequence[Expr], other: Sequence[Expr]) -> bool:
    return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))


def _both(left: Expr, right: Expr) -> Expr:
    return Binary(span=right.span, type=INT, op="&&", left=left, right=right)


def _declare(symbol: Symbol, value: Expr, span: Span) -> Stmt:
    return DeclStmt(span=span, declarations=(VarDecl(span=span, symbol=symbol, init=value),))
