"""Variables whose value nobody learns: every use of them is a statement that only moves them on.

    static int calls = 0;  …  calls++;  …  calls += 2;        and no other line names calls

Invariant: what an unread variable holds reaches no other variable, no condition, no call and no output.
Limits: variables of a function, or of a file; no other file can name them.
"""

from __future__ import annotations

import functools

from warpsmith.tree.nodes import Assign, Call, ExprStmt, For, GlobalDecl, Name, Node, Unary, VerbatimExpr
from warpsmith.tree.program import Program
from warpsmith.tree.types import Scalar, Symbol
from warpsmith.tree.walk import peel, walk

__all__ = ["is_unread"]

_STEPS = ("++x", "--x", "x++", "x--")


def is_unread(program: Program, symbol: Symbol) -> bool:
    """Whether nobody learns what a variable holds."""
    if symbol.storage not in ("local", "static local", "static"):
        return False
    if not isinstance(symbol.type, Scalar) or symbol.type.volatile:
        return False
    declared = (item for unit in program.units for item in unit.items if isinstance(item, GlobalDecl))
    tops: list[Node] = [*declared, *(function for _, function in program.functions())]
    return not any(symbol in _find_read(top) for top in tops)


# nodes never change, and rewritten programs share most of theirs
@functools.lru_cache(maxsize=1024)
def _find_read(top: Node) -> frozenset[Symbol]:
    """Return the variables that a part of the program does more with than to move them on."""
    moving: set[int] = set()
    for node in walk(top):
        moved = _moved_by(node)
        if moved is not None:
            moving.update(id(n) for n in walk(node) if isinstance(n, Name) and n.symbol == moved)
    read = {n.symbol for n in walk(top) if isinstance(n, Name) and id(n) not in moving}
    read |= {n.variable for n in walk(top) if isinstance(n, For)}
    opaque = (s for n in walk(top) for s in (*getattr(n, "reads", ()), *getattr(n, "writes", ())))
    return frozenset(read.union(opaque))


def _passes_on(node: Node) -> bool:
    """Whether a part of an expression may hand a value to something else."""
    return isinstance(node, Assign | Call | VerbatimExpr) or (isinstance(node, Unary) and node.op in (*_STEPS, "&"))


def _moved_by(node: Node) -> Symbol | None:
    """Return the variable that a statement moves on, and does nothing else."""
    whole = peel(node.expr) if isinstance(node, ExprStmt) else None
    if isinstance(whole, Unary) and whole.op in _STEPS:
        place = peel(whole.operand)
    elif isinstance(whole, Assign) and not any(_passes_on(n) for n in walk(whole.value)):
        place = peel(whole.target)
    else:
        return None
    return place.symbol if isinstance(place, Name) and isinstance(place.symbol.type, Scalar) else None
