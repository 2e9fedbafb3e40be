"""The sources of the pointers that a statement run declares: pointers and arrays of outside it.

    for (…) { struct particle *p = &s[i]; double *v = p->v; … }     p, v: s, unless one is given something else

Invariant: whatever a derived pointer holds while the run goes on is an address made from one of its sources, as these
were when it was made. No answer (None) where one comes from memory, from a call, or from text that is not modelled.
"""

from __future__ import annotations

from warpsmith.poly.pointers.accesses import Base, bases
from warpsmith.tree.nodes import Assign, Expr, Name, Stmt, Unary, VarDecl, Verbatim, VerbatimExpr
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import peel, walk

__all__ = ["sources"]


def sources(run: tuple[Stmt, ...], symbol: Symbol) -> frozenset[Symbol] | None:
    """Return the variables of outside `run` from which a pointer that it declares is made, None where not all are
    known."""
    own = {n.symbol for stmt in run for n in walk(stmt) if isinstance(n, VarDecl)}
    if symbol not in own:
        return None
    found: set[Symbol] = set()
    seen, pending = {symbol}, [symbol]
    while pending:
        made = _find_made_from(run, pending.pop())
        if made is None:
            return None
        for base in made:
            if base.symbol is None or base.deep or base.call is not None:
                return None
            if base.symbol not in own or base.address:
                found.add(base.symbol)
            elif base.symbol not in seen:
                seen.add(base.symbol)
                pending.append(base.symbol)
    return frozenset(found)


def _find_made_from(run: tuple[Stmt, ...], symbol: Symbol) -> list[Base] | None:
    """Return the bases of everything that a pointer variable is given; None where it may get something unseen."""
    found: list[Base] = []
    for node in (n for stmt in run for n in walk(stmt)):
        match node:
            case VarDecl() if node.symbol == symbol:
                found += [] if node.init is None else bases(node.init)
            case Assign(op="=") if _is(node.target, symbol):
                found += bases(node.value)
            case Unary(op="&") if _is(node.operand, symbol):
                return None
            case Verbatim() | VerbatimExpr() if symbol in (*node.reads, *node.writes):
                return None
            case _:
                pass
    return found


def _is(expr: Expr, symbol: Symbol) -> bool:
    inner = peel(expr)
    return isinstance(inner, Name) and inner.symbol == symbol
