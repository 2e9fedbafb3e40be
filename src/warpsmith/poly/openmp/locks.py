"""Locks as critical sections: what stands between the setting and the unsetting of one lock excludes itself.

    omp_set_lock(&guard);              #pragma omp critical(guard)
    s += x[i];                         {
    omp_unset_lock(&guard);                s += x[i];
                                       }

Invariant: the rewritten function, which is only judged, never written, has the runs of the user's function: both calls
name one lock, which all threads share, stand in one statement list, and nothing between them leaves it. A claim on a
function of which a call is left is judged as it stands, where the call is in the way.
Limits: a lock is a variable, not an element; nested locks lie within each other; a thread that sets a lock twice hangs.
"""

from __future__ import annotations

from collections.abc import Sequence

from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.poly.pointers.control import escapes
from warpsmith.tree.claims import Claim
from warpsmith.tree.nodes import (
    Block,
    Call,
    DeclStmt,
    ExprStmt,
    Function,
    Name,
    Node,
    Pragma,
    Stmt,
    Unary,
    VarDecl,
    replace,
)
from warpsmith.tree.text.directives import Clause, Directive
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import names, peel, rebuild, walk

__all__ = ["with_critical_sections"]

_SETS = ("omp_set_lock", "omp_unset_lock")


def with_critical_sections(function: Function, claim: Claim) -> Function | None:
    """Return the function with critical sections in place of the locks of a claimed loop; None where it has none, or
    where one of them is used in another way."""
    loop = claim.marked
    called = [n for n in walk(loop) if isinstance(n, Call) and _name_of(n) in _SETS]
    locks = {_lock_of(call) for call in called}
    inside = {n.symbol for n in walk(loop) if isinstance(n, VarDecl)}
    if not locks or None in locks or locks & (inside | claim.owned | claim.inner):
        return None
    made = rebuild(loop, _with_sections)
    if any(n.symbol in locks for n in names(made)):
        return None
    return rebuild(function, lambda node: made if node is loop else node)


def _name_of(call: Call) -> str:
    called = direct_call(call)
    return called.name if called is not None else ""


def _lock_of(call: Call) -> Symbol | None:
    """Return the variable that is the lock: `&guard`."""
    given = peel(call.arguments[0]) if len(call.arguments) == 1 else None
    place = peel(given.operand) if isinstance(given, Unary) and given.op == "&" else None
    return place.symbol if isinstance(place, Name) else None


def _with_sections(node: Node) -> Node:
    if not isinstance(node, Block):
        return node
    made = _sections(node.statements)
    return node if made is None else replace(node, statements=made)


def _sections(statements: Sequence[Stmt]) -> tuple[Stmt, ...] | None:
    """Return a statement list with critical sections in place of its locks, None where it has none."""
    for first, stmt in enumerate(statements):
        lock = _call_in(stmt, "omp_set_lock")
        if lock is None:
            continue
        behind = range(first + 1, len(statements))
        last = next((k for k in behind if _call_in(statements[k], "omp_unset_lock") == lock), None)
        body = statements[first + 1 : last]
        # what is declared there may be used behind it
        if last is None or any(escapes(part) or isinstance(part, DeclStmt) for part in body):
            return None
        inner = _sections(body) or tuple(body)
        rest = _sections(statements[last + 1 :]) or tuple(statements[last + 1 :])
        clause = Clause(name="", text=f"({lock.name})", argument=f"lock {lock.key}")
        directive = Directive("omp", ("critical",), (clause,))
        pragma = Pragma(span=stmt.span, text=f"#pragma omp critical ({lock.name})", directive=directive)
        section = Block(span=stmt.span, statements=inner)
        return (*statements[:first], pragma, section, *rest)
    return None


def _call_in(stmt: Stmt, name: str) -> Symbol | None:
    """Return the lock that a statement sets, or unsets, and does nothing else."""
    call = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
    return _lock_of(call) if isinstance(call, Call) and _name_of(call) == name else None
