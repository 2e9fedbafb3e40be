"""Whether the values that decide which elements a fragment touches stay the same in a scope.

    for (i < n) a[i] = …;    n = n / 2;    for (i < n) a[i] = …;      n decides, and it changes inside

A section over a scope in which such a value changes can only be bounded by the range of its type, which may lie far
outside the object: then the scope must be smaller. Counters of loops around the fragment do not count (their ranges are
known), nor does what the fragment computes itself each time (a running value: in every iteration); nor do values that
are only computed with.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.offload.fragments import Draft
from warpsmith.tree.nodes import Assign, DeclStmt, Expr, For, Index, Name, Node, Stmt, Unary, While
from warpsmith.tree.types import Pointer, Symbol, is_integer
from warpsmith.tree.walk import names, peel, walk, written_symbols

__all__ = ["deciding", "moving"]


def moving(draft: Draft, scope: tuple[Stmt, ...], changed: frozenset[Symbol]) -> frozenset[Symbol]:
    """Return the variables that decide what `draft` touches and change in `scope` otherwise than as its counters.

    `changed` is what the scope's statements may write.
    """
    running = {value.running.symbol for value in draft.scan.values} if draft.scan is not None else set[Symbol]()
    kept = {use.symbol for use in draft.uses if use.kind == "cell" and not use.covers} - running
    own = {symbol for statement in draft.statements for symbol in written_symbols(statement)} - kept
    first = draft.statements[0]
    counters = {
        part.variable
        for statement in scope
        for part in walk(statement)
        if isinstance(part, For) and any(inside is first for inside in walk(part.body))
    }
    return (deciding(draft) & changed) - own - counters


def deciding(draft: Draft) -> frozenset[Symbol]:
    """Return the integers and pointers that subscripts, addresses and loop bounds of a fragment are made from."""
    found: set[Symbol] = set()
    sources: dict[Symbol, set[Symbol]] = {}
    for statement in draft.statements:
        for part in walk(statement):
            found |= {n.symbol for expr in _deciding_parts(part) for n in names(expr)}
            for target, value in _definitions(part):
                sources.setdefault(target, set()).update(n.symbol for n in names(value))
    pending = list(found)
    while pending:
        for symbol in sources.get(pending.pop(), set()) - found:
            found.add(symbol)
            pending.append(symbol)
    return frozenset(s for s in found if is_integer(s.type) or isinstance(s.type, Pointer))


def _deciding_parts(node: Node) -> Iterator[Expr]:
    match node:
        case Index():
            yield node.index
        case Unary(op="*"):
            yield node.operand
        case For():
            yield node.lower
            yield node.bound
        case While(condition=condition) if condition is not None:
            yield condition
        case _:
            return


def _definitions(node: Node) -> Iterator[tuple[Symbol, Expr]]:
    if isinstance(node, Assign) and isinstance(target := peel(node.target), Name):
        yield target.symbol, node.value
    if isinstance(node, DeclStmt):
        for declaration in node.declarations:
            if declaration.init is not None:
                yield declaration.symbol, declaration.init
