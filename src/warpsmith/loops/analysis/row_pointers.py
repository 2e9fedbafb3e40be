"""Variables that hold a row: `a[i][j]` in their place.

    for (i …) { double *row = a[i]; for (j …) row[j] += j; }     →     for (i …) { for (j …) a[i][j] += j; }
    for (i …) { auto &row = m[i];   for (j …) row[j] += j; }     →     for (i …) { for (j …) m[i][j] += j; }

Invariant: a variable is taken out only where it is set once, to a row whose subscript keeps its value for as long as
the variable lives, and where every use subscripts it. Whether the row pointer itself may change is for the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from warpsmith.base.verdict import Reason
from warpsmith.loops.analysis.substitute import copy_tree
from warpsmith.loops.analysis.uses import uses
from warpsmith.poly.effects.origin import own_writes
from warpsmith.tree.containers import find_check, is_container, is_held_by_container
from warpsmith.tree.nodes import (
    Binary,
    Block,
    Cast,
    DeclStmt,
    Empty,
    Expr,
    For,
    Index,
    Literal,
    Loop,
    Member,
    Name,
    Node,
    Unary,
    VarDecl,
    replace,
)
from warpsmith.tree.types import Pointer, Symbol
from warpsmith.tree.walk import loops, names, peel, rebuild, walk

__all__ = ["hide_row_pointers", "hide_vector_references"]


def hide_row_pointers(loop: Loop, hidden: frozenset[Symbol]) -> Loop:
    """Return the loop without the variables that hold rows; the same node where there are none. `hidden`: those that
    something else may change."""
    return _hide(loop, dict(_rows(loop, hidden)))


def hide_vector_references(loop: Loop, hidden: frozenset[Symbol], wanted: Callable[[Expr], bool]) -> Loop:
    """Return the loop without the variables that hold references to vectors in an array that is `wanted`."""
    found = _vectors(loop, hidden)
    return _hide(loop, {symbol: address for symbol, address, of in found if wanted(of)})


def _hide(loop: Loop, rows: dict[Symbol, Expr]) -> Loop:
    if not rows:
        return loop

    def change(node: Node) -> Node:
        match node:
            case Name(symbol=symbol) if symbol in rows:
                return copy_tree(rows[symbol])
            case DeclStmt(declarations=declarations) if any(d.symbol in rows for d in declarations):
                kept = tuple(d for d in declarations if d.symbol not in rows)
                return replace(node, declarations=kept) if kept else Empty(span=node.span)
            case Block(statements=statements) if any(isinstance(s, Empty) and not s.intact for s in statements):
                return replace(node, statements=tuple(s for s in statements if not isinstance(s, Empty) or s.intact))
            case _:
                return node

    return rebuild(loop, change)


def _rows(loop: Loop, hidden: frozenset[Symbol]) -> list[tuple[Symbol, Expr]]:
    """Return the variables with the rows that they hold."""
    written = {s for part in walk(loop.body) for s in own_writes(part)}
    found: list[tuple[Symbol, Expr]] = []
    for node in walk(loop):
        if not isinstance(node, VarDecl) or node.init is None or node.symbol in written | hidden:
            continue
        row = peel(node.init)
        if isinstance(row, Index) and isinstance(row.type, Pointer) and isinstance(node.symbol.type, Pointer):
            plain = isinstance(base := peel(row.base), Name) and isinstance(base.type, Pointer)
            if plain and _is_steady(row.index, node, loop, written | hidden) and _is_subscripted(loop, node.symbol):
                found.append((node.symbol, row))
    return found


def _is_steady(index: Expr, declared: VarDecl, loop: Loop, moving: set[Symbol] | frozenset[Symbol]) -> bool:
    """Whether a subscript keeps its value in the scope of the variable: made of numbers, counters of the loops around
    it, and what the loop does not write."""
    inside = {inner.variable for inner, _ in loops(loop) if isinstance(inner, For)}
    around = {n.variable for n, _ in loops(loop) if isinstance(n, For) and any(p is declared for p in walk(n.body))}
    local = {n.symbol for n in walk(loop) if isinstance(n, VarDecl)}
    for part in walk(index):
        if isinstance(part, Name):
            fixed = part.symbol.storage in ("local", "parameter", "enumerator") and part.symbol not in moving | local
            if not fixed or (part.symbol in inside and part.symbol not in around):
                return False
        elif not isinstance(part, Literal | Binary | Cast):
            return False
    return True


def _is_subscripted(loop: Loop, symbol: Symbol) -> bool:
    return not isinstance(uses(loop, symbol, 1), Reason)


def _vectors(loop: Loop, hidden: frozenset[Symbol]) -> Iterator[tuple[Symbol, Expr, Expr]]:
    """Yield the variables that hold addresses of vectors in an array, with what they hold, and the array."""
    written = {s for part in walk(loop.body) for s in own_writes(part)}
    for node in walk(loop):
        if not isinstance(node, VarDecl) or node.init is None or node.symbol in written | hidden:
            continue
        address = peel(node.init)
        vector = peel(address.operand) if isinstance(address, Unary) and address.op == "&" else None
        if not isinstance(vector, Index) or not is_container(vector.type) or find_check(vector) is not None:
            continue
        if _is_steady(vector.index, node, loop, written | hidden) and _gives_members(loop, node.symbol):
            yield node.symbol, address, vector.base


def _gives_members(loop: Loop, symbol: Symbol) -> bool:
    """Whether every use of a reference to a vector takes where its elements are, or how many."""
    held = {id(peel(p.base)) for p in walk(loop) if isinstance(p, Member) and p.arrow and is_held_by_container(p)}
    return all(id(name) in held for name in names(loop) if name.symbol == symbol)
