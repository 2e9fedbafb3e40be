"""Whether names still mean what they meant, once statements stand in other blocks.

    if (c) goto L;  int x = f();  L: g(x);         x would not be known where g is called
    if (c) { int x; goto L; }  …  L: g(x);         another x would be meant

Invariant: where the check passes, every name of a variable that is declared in the statements stands behind its
declaration and in its block, and no other name is hidden by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from warpsmith.front.c.jumps.runs import NotNestedError
from warpsmith.tree.nodes import Block, DeclStmt, For, Name, Node, Stmt, VarDecl, Verbatim, VerbatimExpr, While
from warpsmith.tree.types import Array, Symbol
from warpsmith.tree.walk import children, walk

__all__ = ["check_scopes"]

_Scope = Mapping[str, Symbol]


def check_scopes(body: Stmt) -> None:
    """Raise NotNestedError where a name in statements is not that of its declaration."""
    declared = {part.symbol for part in walk(body) if isinstance(part, VarDecl)}
    declared |= {part.variable for part in walk(body) if isinstance(part, For) and part.declares}
    _check(body, {}, frozenset(declared))


def _check(node: Node, scope: _Scope, declared: frozenset[Symbol]) -> _Scope:
    """Check a node; return the scope behind it, for what stands in the same block."""
    for symbol in _named(node):
        known = scope.get(symbol.name)
        if known is not None and known != symbol:
            raise NotNestedError(f"goto past a declaration that hides another {symbol.name}")
        if known is None and symbol in declared:
            raise NotNestedError(f"goto past the declaration of {symbol.name}")
    inner: _Scope = {**scope, node.variable.name: node.variable} if isinstance(node, For) and node.declares else scope
    for part in children(node):
        if isinstance(part, VarDecl):
            if isinstance(part.symbol.type, Array) and scope:
                raise NotNestedError(f"goto around the array {part.symbol.name}")
            inner = {**inner, part.symbol.name: part.symbol}
        inner = _check(part, inner, declared)
    return scope if isinstance(node, Block | For | While) else inner if isinstance(node, DeclStmt) else scope


def _named(node: Node) -> Iterator[Symbol]:
    match node:
        case Name(symbol=symbol):
            yield symbol
        case Verbatim(reads=reads, writes=writes) | VerbatimExpr(reads=reads, writes=writes):
            yield from (*reads, *writes)
        case For(variable=variable, declares=False):
            yield variable
        case _:
            pass
