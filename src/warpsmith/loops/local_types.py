"""Types that are declared in loops, which no step moves.

    for (…) { struct p { double x; };  struct p q = {a[i]};  a[i] = q.x; }

Invariant: a block that declares a type comes out of a step as it was, once. So each name of a type means what it meant,
and nothing that a step writes elsewhere is made of such a type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from warpsmith.base.verdict import Reason
from warpsmith.tree.nodes import Block, Case, DeclStmt, Function, Node
from warpsmith.tree.program import Program
from warpsmith.tree.walk import children, walk

__all__ = ["find_moved_type"]


def find_moved_type(before: Program, after: Program) -> Reason | None:
    """Return why a step may not make `after` of `before`: a block that declares a type is not what it was."""
    known = {id(function) for _, function in before.functions()}
    changed = {function.symbol: function for _, function in after.functions() if id(function) not in known}
    for _, function in before.functions():
        new = changed.pop(function.symbol, None)
        stop = None if new is None else _find_difference(function, new)
        if stop is not None:
            return stop
    added = (stmt for function in changed.values() for _, stmt in _find_declared(function))
    return next((_word(stmt) for stmt in added), None)


def _find_difference(old: Function, new: Function) -> Reason | None:
    there = [*_find_declared(old)]
    here = [*_find_declared(new)]
    left = Counter(id(holder) for holder, _ in there)
    left.subtract(id(holder) for holder, _ in here)
    differs = {holder for holder, count in left.items() if count}
    return next((_word(stmt) for holder, stmt in (*there, *here) if id(holder) in differs), None)


def _find_declared(function: Function) -> Iterator[tuple[Node, DeclStmt]]:
    """Yield every statement that declares a type, with the node that it stands in."""
    for holder in walk(function.body):
        if isinstance(holder, Block | Case):
            yield from ((holder, part) for part in children(holder) if isinstance(part, DeclStmt) and part.types)


def _word(stmt: DeclStmt) -> Reason:
    words = " ".join(stmt.types.partition("{")[0].split())
    return Reason("STP002", f"a type is declared in the loop, and steps do not move those: {words}", stmt.span)
