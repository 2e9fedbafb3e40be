"""Whether a variable's value is needed behind a statement, read off the tree from there on.

    for (i …) A         i: written before it is read again: not needed
    for (i …) B
    return k;           k: needed

Invariant: what is said not to be needed is, on no path from the statement, read before it is written again.

Limits: one variable of a number, whose address nobody takes; where a function jumps, everything is needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from warpsmith.emit.device.unused import count_uses
from warpsmith.emit.host.outline.statements import uses
from warpsmith.tree.nodes import (
    Assign,
    Block,
    Break,
    Case,
    Continue,
    DeclStmt,
    ExprStmt,
    For,
    If,
    Name,
    Node,
    Return,
    Stmt,
    Verbatim,
    While,
)
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import children, peel, walk

__all__ = ["is_needed_behind", "is_read_first"]

Fate = Literal["untouched", "read", "written"]


def is_needed_behind(body: Block, stmt: Stmt, symbol: Symbol) -> bool:
    """Whether the value that `symbol` has behind `stmt`, which stands in a function's body, may be read later."""
    around = _path(body, stmt)
    if around is None or any(isinstance(part, Verbatim) and part.control for part in walk(body)):
        return True
    inner: Node = stmt
    for owner in reversed(around):
        fate = _behind(owner, inner, symbol)
        if fate != "untouched":
            return fate == "read"
        inner = owner
    return False


def is_read_first(run: Iterable[Stmt], symbol: Symbol) -> bool:
    """Whether statements may read a variable before they write it."""
    return _fate_of_run(run, symbol) == "read"


def _path(root: Node, stmt: Stmt) -> list[Node] | None:
    """Return what stands around a statement, outermost first."""
    if root is stmt:
        return []
    for part in children(root):
        if isinstance(part, Stmt | Case) and (found := _path(part, stmt)) is not None:
            return [root, *found]
    return None


def _behind(owner: Node, inner: Node, symbol: Symbol) -> Fate:
    """Return what becomes of a value between the end of `inner` and that of what it stands in."""
    match owner:
        case Block(statements=statements):
            position = next(n for n, one in enumerate(statements) if one is inner)
            return _fate_of_run(statements[position + 1 :], symbol)
        case If():
            return "untouched"
        case For(variable=variable, bound=bound, body=body):
            again = variable is symbol or _mentions(bound, symbol) or _fate(body, symbol) == "read"
            return "read" if again else "untouched"
        case While(condition=condition, advance=advance, body=body):
            parts = [part for part in (condition, advance) if part is not None]
            again = any(_mentions(part, symbol) for part in parts) or _fate(body, symbol) == "read"
            return "read" if again else "untouched"
        case _:
            return "read" if _mentions(owner, symbol) else "untouched"


def _fate_of_run(run: Iterable[Stmt], symbol: Symbol) -> Fate:
    jumps = False
    for stmt in run:
        fate = _fate(stmt, symbol)
        if fate == "read" or (fate == "written" and not jumps):
            return fate
        jumps = jumps or any(isinstance(part, Break | Continue | Return) for part in walk(stmt))
    return "untouched"


def _fate(stmt: Stmt, symbol: Symbol) -> Fate:
    if not _mentions(stmt, symbol):
        return "untouched"
    match stmt:
        case Block(statements=statements):
            return _fate_of_run(statements, symbol)
        case If(condition=condition, then=then, other=other):
            if _mentions(condition, symbol):
                return "read"
            fates = {_fate(then, symbol), "untouched" if other is None else _fate(other, symbol)}
            return fates.pop() if len(fates) == 1 else "read" if "read" in fates else "untouched"
        case For():
            return _fate_of_loop(stmt, symbol)
        case While(init=ExprStmt() as init):
            return "written" if _sets(init, symbol) else "read"
        case ExprStmt():
            return "written" if _sets(stmt, symbol) else "read"
        case _:
            return "read"


def _fate_of_loop(loop: For, symbol: Symbol) -> Fate:
    if _mentions(loop.lower, symbol):
        return "read"
    if loop.variable == symbol:
        return "untouched" if loop.declares else "written"
    return "read" if _mentions(loop.bound, symbol) or _fate(loop.body, symbol) == "read" else "untouched"


def _sets(stmt: Stmt, symbol: Symbol) -> bool:
    match stmt:
        case ExprStmt(expr=Assign(op="=", target=target, value=value)):
            name = peel(target)
            return isinstance(name, Name) and name.symbol == symbol and not _mentions(value, symbol)
        case _:
            return False


def _mentions(node: Node, symbol: Symbol) -> bool:
    if uses(node)[symbol] or symbol in count_uses(node):
        return True
    return any(
        (isinstance(part, For) and part.variable == symbol)
        or (isinstance(part, DeclStmt) and any(d.symbol == symbol for d in part.declarations))
        for part in walk(node)
    )
