"""Conditions that hold where a run stands: of the statements around it, and of the guards before it.

    for (int k = 0; k < n; k++) {        k >= 0, k < n            a size `n >= 1 ? n : 0` is n
        if (m > 0)                       m > 0                    in either branch, as it went

Invariant: nothing writes a variable of a condition between the place where it was tested and any statement for which
it is known.

Limits: a statement in which the user's text is not understood, a label maybe, makes nothing known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from msgspec import Struct

from warpsmith.emit.host.outline.statements import find_exposed, find_hosts, find_written
from warpsmith.poly.isl.simplify import simplify
from warpsmith.tree.nodes import (
    Binary,
    Conditional,
    Expr,
    For,
    Function,
    If,
    MacroUse,
    Name,
    Node,
    Stmt,
    Unary,
    Verbatim,
    While,
)
from warpsmith.tree.types import INT, Scalar, Symbol
from warpsmith.tree.walk import rebuild, walk, written_symbols

__all__ = ["KnownConditions", "shorten"]

Conditions = tuple[Expr, ...]


class KnownConditions(Struct, frozen=True):
    """What is asked of one function: `hosts` are the variables of its buffers, `exposed` those that others may
    write."""

    hosts: Mapping[Symbol, Symbol]
    exposed: frozenset[Symbol]

    @classmethod
    def of(cls, function: Function) -> KnownConditions:
        """Return what is asked of a ported function."""
        hosts = find_hosts(function)
        return cls(hosts, find_exposed(function) | frozenset(hosts.values()))

    def inside(self, stmt: For | While | If) -> Conditions:
        """Return what holds in the body of a loop, or where the condition of an `if` does."""
        match stmt:
            case For():
                return self.lasting(_bounds(stmt), (stmt.body,))
            case While(form="while" | "for", condition=condition) if condition is not None:
                return self.lasting((condition,), (stmt.body,))
            case If():
                return self.lasting((stmt.condition,), (stmt.then,))
            case _:
                return ()

    def otherwise(self, stmt: If) -> Conditions:
        """Return what holds where the condition of an `if` does not."""
        if stmt.other is None:
            return ()
        fails = Unary(span=stmt.span, type=INT, op="!", operand=stmt.condition)
        return self.lasting((fails,), (stmt.other,))

    def lasting(self, conditions: Iterable[Expr], run: Collection[Stmt]) -> Conditions:
        """Return those of some conditions which, where they hold, do so until the end of `run`."""
        if any(isinstance(part, Verbatim) for stmt in run for part in walk(stmt)):
            return ()
        plain = [_plain(condition) for condition in conditions]
        written = find_written(run, self.hosts) | self.exposed.union(*map(written_symbols, plain))
        every = (part for condition in plain for part in _conjuncts(condition))
        return tuple(one for one in every if not any(_may_change(part, written) for part in walk(one)))


def shorten(node: Node, known: Conditions) -> Node:
    """Return a statement or an expression with the choices in it said as short as what is known allows."""
    if not known:
        return node
    return rebuild(node, lambda part: simplify(part, known) if isinstance(part, Conditional) else part)


def _bounds(loop: For) -> Iterator[Expr]:
    """Yield what holds in every iteration."""
    counter = Name(span=loop.header, type=loop.variable.type, symbol=loop.variable)
    start = ">=" if loop.step > 0 else "<="
    yield Binary(span=loop.header, type=INT, op=loop.relation, left=counter, right=loop.bound)
    yield Binary(span=loop.header, type=INT, op=start, left=counter, right=loop.lower)


def _conjuncts(condition: Expr) -> Iterator[Expr]:
    if isinstance(condition, Binary) and condition.op == "&&":
        yield from (*_conjuncts(condition.left), *_conjuncts(condition.right))
    else:
        yield condition


def _plain(condition: Expr) -> Expr:
    """Return a condition with the macros in it expanded."""
    found = rebuild(condition, lambda part: part.expansion if isinstance(part, MacroUse) else part)
    assert isinstance(found, Expr)
    return found


def _may_change(part: Node, written: Collection[Symbol]) -> bool:
    if not isinstance(part, Name):
        return False
    return part.symbol in written or (isinstance(part.symbol.type, Scalar) and part.symbol.type.volatile)
