"""Sizes of device statements, said under what holds where they stand: conditions around them and guards before them.

    for (int k = 0; k < n; k++) {        k >= 0, k < n            a size `n >= 1 ? n : 0` is n
        if (m > 0)                       m > 0                    in either branch, as it went
    if (n >= 1 && …)                     guards: n >= 1 behind it

Invariant: nothing writes a variable of a condition between the place where it was tested and any statement for which
it is known. Statements of the user's stay as they are.

Limits: a statement in which the user's text is not understood, a label maybe, makes nothing known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct

from warpsmith.poly.isl.simplify import simplify
from warpsmith.tree.memory.device_writes import find_exposed, find_hosts, find_written
from warpsmith.tree.nodes import (
    Binary,
    Block,
    Conditional,
    DeclStmt,
    DeviceNode,
    Expr,
    For,
    Function,
    If,
    MacroUse,
    Name,
    Node,
    Stmt,
    Switch,
    Unary,
    Verbatim,
    While,
    replace,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import INT, Scalar, Symbol
from warpsmith.tree.walk import rebuild, same, walk, written_symbols

__all__ = ["KnownConditions", "shorten_function", "shorten_sizes"]

Conditions = tuple[Expr, ...]
N = TypeVar("N", bound=Node)


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


def shorten_sizes(program: Program) -> Program:
    """Return a ported program whose device statements say sizes as short as what is known there allows."""
    for _, function in [*program.functions()]:
        new = shorten_function(function)
        if new is not function:
            program = program.with_function(function, new)
    return program


def shorten_function(function: Function) -> Function:
    """Return a ported function, said shorter; the same one where nothing is."""
    if not any(isinstance(part, DeviceNode) for part in walk(function.body)):
        return function
    body = _Shortener(KnownConditions.of(function)).stmt(function.body, ())
    return function if body is function.body else replace(function, body=body)


class _Shortener(Struct, frozen=True):
    conditions: KnownConditions

    def stmt(self, stmt: Stmt, known: Conditions) -> Stmt:
        """Return a statement, the same one where nothing in it is said shorter."""
        match stmt:
            case Block(statements=statements):
                return _changed(stmt, statements=self.run(statements, known))
            case For() | While():
                return _changed(stmt, body=self.stmt(stmt.body, (*known, *self.conditions.inside(stmt))))
            case If():
                return self.branches(stmt, known)
            case Switch(cases=cases):
                return _changed(stmt, cases=_same(cases, [_changed(c, body=self.run(c.body, known)) for c in cases]))
            case DeviceNode() | DeclStmt() if not stmt.intact:
                found = _shorten(stmt, known)
                return stmt if same(found, stmt) else found
            case _:
                return stmt

    def run(self, run: tuple[Stmt, ...], known: Conditions) -> tuple[Stmt, ...]:
        return _same(run, [self.stmt(stmt, known) for stmt in run])

    def branches(self, stmt: If, known: Conditions) -> Stmt:
        condition = self.guard(stmt.condition, known) if stmt.reasons else stmt.condition
        then = self.stmt(stmt.then, (*known, *self.conditions.inside(stmt)))
        other = stmt.other and self.stmt(stmt.other, (*known, *self.conditions.otherwise(stmt)))
        return _changed(stmt, condition=condition, then=then, other=other)

    def guard(self, test: Expr, known: Conditions) -> Expr:
        """Return the condition of a guard, each part under those before it."""
        if isinstance(test, Binary) and test.op == "&&":
            before = (*known, *self.conditions.lasting((test.left,), ()))
            return _changed(test, left=self.guard(test.left, known), right=self.guard(test.right, before))
        found = _shorten(test, known)
        return test if same(found, test) else found


def _shorten(node: N, known: Conditions) -> N:
    if not known:
        return node
    return rebuild(node, lambda part: simplify(part, known) if isinstance(part, Conditional) else part)


def _same(old: tuple[N, ...], new: Sequence[N]) -> tuple[N, ...]:
    """Return `old` where nothing of it is new."""
    return old if all(a is b for a, b in zip(old, new, strict=True)) else tuple(new)


def _changed(node: N, **parts: object) -> N:
    """Return a node with some parts, the same one where they are those that it has."""
    return node if all(getattr(node, name) is part for name, part in parts.items()) else replace(node, **parts)


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
