"""Local pointers that are given an address once, where they are declared, and keep it.

    double *left = base, *right = left + n;        right[i] is base[n + i], wherever right is in reach

Invariant: nothing but its declaration writes a fixed pointer, or any variable that the address is made from: what the
address says where it was made, it says as long as the pointer is in reach.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Set

from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Cast,
    Expr,
    For,
    Function,
    Index,
    Literal,
    Member,
    Name,
    Node,
    SizeOf,
    Unary,
    VarDecl,
)
from warpsmith.tree.types import Array, Pointer, Symbol
from warpsmith.tree.walk import peel, walk

__all__ = ["fixed_pointers"]

_PLACES = ("++x", "--x", "x++", "x--", "&")


@functools.lru_cache(maxsize=256)
def fixed_pointers(function: Function, hidden: frozenset[Symbol]) -> Mapping[Symbol, Expr]:
    """Return the fixed pointers of a function with their addresses; `hidden`: what something else may hold."""
    declared = {n.symbol: n.init for n in walk(function.body) if isinstance(n, VarDecl)}
    changed = hidden | frozenset(s for n in walk(function.body) for s in _find_changed(n))
    return {
        symbol: init
        for symbol, init in declared.items()
        if init is not None and isinstance(symbol.type, Pointer) and not symbol.type.restrict
        and symbol.storage == "local" and symbol not in changed and _is_fixed(init, declared, changed)
    }  # fmt: skip


def _find_changed(node: Node) -> Iterator[Symbol]:
    """Yield the variables that this very node may give another value, or takes the address of."""
    if isinstance(node, For):
        yield node.variable
    if isinstance(node, Assign) or (isinstance(node, Unary) and node.op in _PLACES):
        place = peel(node.target if isinstance(node, Assign) else node.operand)
        while isinstance(place, Member) and not place.arrow:
            place = peel(place.base)
        yield from (place.symbol,) if isinstance(place, Name) else ()
    yield from getattr(node, "writes", ())


def _is_fixed(address: Expr, declared: Mapping[Symbol, Expr | None], changed: Set[Symbol]) -> bool:
    """Whether an address is made of variables that keep their value, and read no memory."""
    expr = peel(address)
    if isinstance(expr, Name):
        symbol = expr.symbol
        if symbol.storage == "enumerator" or (isinstance(symbol.type, Array) and symbol.storage != "function"):
            return True
        given = symbol.storage == "parameter" or (symbol.storage == "local" and declared.get(symbol) is not None)
        return given and symbol not in changed
    place = peel(expr.operand) if isinstance(expr, Unary) and expr.op == "&" else None
    if isinstance(place, Index):
        return _is_fixed(place.base, declared, changed) and _is_fixed(place.index, declared, changed)
    if isinstance(expr, Binary) and expr.op in ("+", "-", "*", "/"):
        return _is_fixed(expr.left, declared, changed) and _is_fixed(expr.right, declared, changed)
    if isinstance(expr, Cast) or (isinstance(expr, Unary) and expr.op in ("-", "+")):
        return _is_fixed(expr.operand, declared, changed)
    return isinstance(expr, Literal | SizeOf)
