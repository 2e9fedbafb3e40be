"""Facts about a function as a whole, established before any of its regions is modelled."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from msgspec import Struct

from warpsmith.poly.effects.constants import constant_variables
from warpsmith.poly.effects.effects import Effects, effects, find_changed_in, find_escaped
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.pointers.pointers import is_persistent
from warpsmith.tree.nodes import (
    Assign,
    Call,
    Expr,
    For,
    Function,
    Member,
    Name,
    Node,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import Array, Pointer, Symbol
from warpsmith.tree.walk import peel, walk

__all__ = ["Origin", "changed_variables", "own_writes"]


class Origin(Struct, frozen=True):
    """What is known of a function as a whole, computed once: single-valued constants, variables written at all."""

    program: Program
    function: Function
    hidden: frozenset[Symbol]
    unstable: frozenset[Symbol]
    constants: dict[Symbol, int]
    summaries: Summaries

    @classmethod
    def of(cls, program: Program, function: Function, summaries: Summaries | None = None) -> Origin:
        """Look at `function` once; pass `Summaries.of(program)` to look at many functions."""
        known = summaries if summaries is not None else Summaries.of(program)
        found = known.remember_of(function, function, "origin", lambda: _find_escaped(program, function, known))
        return cls(program, function, *found, known)

    def effects(self, node: Node) -> Effects:
        """Return what executing a part of the function may do."""
        return effects(self.program, node, self.function, self.summaries)

    def find_exposed(self, changed: Iterable[Symbol]) -> frozenset[Symbol]:
        """Return the variables among `changed` that a pointer may name: their address is kept in the function, or taken
        anywhere in the program where all of it shares them. Arrays are left out: stores tell what they hold."""
        plain = (s for s in changed if not isinstance(s.type, Array) and s.storage not in ("function", "enumerator"))
        taken = self.summaries.address_taken
        return frozenset(s for s in plain if s in self.hidden or (is_persistent(s) and s in taken))


def _find_escaped(
    program: Program, function: Function, known: Summaries
) -> tuple[frozenset[Symbol], frozenset[Symbol], dict[Symbol, int]]:
    """Return the variables that something else may hold, those written, and the constants."""
    hidden = find_escaped(program, function, known)
    written = find_changed_in(function, known)
    return hidden, written, constant_variables(function, written | hidden)


def own_writes(node: Node) -> set[Symbol]:
    """Return the variables that this very node assigns."""
    match node:
        case Assign(target=target):
            target = peel(target)
            return {target.symbol} if isinstance(target, Name) else set()
        case Unary(op=op, operand=operand) if "++" in op or "--" in op:
            operand = peel(operand)
            return {operand.symbol} if isinstance(operand, Name) else set()
        case Verbatim(writes=writes) | VerbatimExpr(writes=writes):
            return set(writes)
        case _:
            return set()


def changed_variables(node: Node, calls: Effects) -> frozenset[Symbol]:
    """Return the variables whose own value `node` may change; `calls` are its effects.

    `p[i] = 0` changes no variable; `s.x = 0` changes s; a pointer may have been used to change a scalar.
    """
    pointed = {s for s in calls.element_writes if not isinstance(s.type, Pointer | Array)}
    direct = calls.direct_writes if _calls(node) else frozenset()
    return _find_written_inside(node) | pointed | direct


# every loop asks for those of all the loops around it: nodes never change, and the answers are remembered
@functools.lru_cache(maxsize=8192)
def _find_written_inside(node: Node) -> frozenset[Symbol]:
    """Return the variables whose own value the text of `node` changes, calls not followed."""
    found: set[Symbol] = set()
    for part in walk(node):
        found |= own_writes(part)
        if isinstance(part, For):
            found.add(part.variable)
        elif isinstance(part, VarDecl):
            found.add(part.symbol)
        elif isinstance(part, Assign | Unary):
            root = _struct_of(part.target if isinstance(part, Assign) else part.operand)
            found |= {root} if root is not None else set()
    return frozenset(found)


@functools.lru_cache(maxsize=8192)
def _calls(node: Node) -> bool:
    return any(isinstance(n, Call | Verbatim | VerbatimExpr) for n in walk(node))


def _struct_of(expr: Expr) -> Symbol | None:
    """Return s for the lvalue `s.x.y`."""
    expr = peel(expr)
    while isinstance(expr, Member) and not expr.arrow:
        expr = peel(expr.base)
        if isinstance(expr, Name):
            return expr.symbol
    return None
