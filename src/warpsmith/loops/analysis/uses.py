"""Where a loop uses a variable: which nodes stand for it, inside which of the loops directly inside one another.

for (i …) {                    depth 2, variable w
    for (j …) { w = …; }       one chain (i, j) with its uses
    for (k …) { … w … }        another: (i, k)
}
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from warpsmith.base.verdict import Reason
from warpsmith.loops.place import LoopContext
from warpsmith.tree.nodes import (
    Block,
    Expr,
    For,
    Index,
    Loop,
    Name,
    Node,
    Pragma,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
    While,
)
from warpsmith.tree.types import Array, Pointer, Scalar, Symbol, Type
from warpsmith.tree.walk import children, names, peel, walk

__all__ = ["Chain", "VariableUse", "chains", "element_of", "find_declared_in", "mentions", "uses", "variable"]


class VariableUse(Struct, frozen=True):
    """One use of a variable as a whole value: `node` is the name, or for an array the subscripted element."""

    node: Name | Index
    subscripts: tuple[Expr, ...]


class Chain(Struct, frozen=True):
    """Loops, each inside the one before, the innermost with all the uses of a variable that the others have there.

    `straight`: each is always run as a part of the one before (no condition stands between them).
    """

    loops: tuple[For, ...]
    straight: bool


def variable(place: LoopContext, name: str) -> Symbol | Reason:
    """Return the variable called `name` that the loop uses and that is made outside it."""
    inside = find_declared_in(place.loop)
    found = {n.symbol for n in names(place.loop) if n.symbol.name == name and n.symbol.storage != "function"}
    outer = sorted(found - inside, key=lambda symbol: symbol.key)
    if len(outer) == 1 and len(found) == 1:
        return outer[0]
    header = place.loop.header
    if not outer and found:
        return Reason("STP003", f"each iteration already has its own {name}", header)
    if outer:
        return Reason("STP003", f"{name} names more than one variable in this loop", header)
    known = sorted({n.symbol.name for n in names(place.loop) if n.symbol.storage != "function"})
    return Reason("STP003", f"the loop uses no variable {name} (it uses {', '.join(known)})", header)


def find_declared_in(loop: Loop) -> set[Symbol]:
    """Return the variables that each iteration makes anew, the counter of the loop too if the loop declares it."""
    own = {n.symbol for n in walk(loop.body) if isinstance(n, VarDecl) and n.symbol.storage == "local"}
    own |= {n.variable for n in walk(loop) if isinstance(n, For) and n.declares}
    return own


def mentions(node: Node, symbol: Symbol) -> bool:
    """Whether a part of the program names the variable."""
    for part in walk(node):
        if isinstance(part, Name) and part.symbol == symbol:
            return True
        if isinstance(part, Verbatim | VerbatimExpr) and symbol in (*part.reads, *part.writes):
            return True
        if isinstance(part, For) and part.variable == symbol:
            return True
    return False


def element_of(type: Type) -> tuple[Scalar, int] | None:
    """Return the arithmetic type of what a variable holds and its number of subscripts; None for anything else."""
    rank = 0
    while isinstance(type, Array | Pointer):
        if isinstance(type, Pointer) and rank:
            return None
        rank += 1
        type = type.of if isinstance(type, Array) else type.to
    if not isinstance(type, Scalar) or type.volatile or type.kind in ("void", "complex"):
        return None
    return type, rank


def uses(node: Node, symbol: Symbol, rank: int) -> list[VariableUse] | Reason:
    """Return every use of the variable below `node`; a Reason where one is not of a whole value (an address, a row, an
    argument that is an array, text that is not modelled)."""
    found: list[VariableUse] = []
    stack: list[Node] = [node]
    while stack:
        current = stack.pop()
        use = _use(current, symbol, rank)
        if use is not None:
            found.append(use)
            stack += reversed(use.subscripts)
            continue
        if _is_bare(current, symbol, rank):
            return Reason("STP002", f"{symbol.name} is used as a whole, or its address is taken", current.span)
        stack += reversed(list(children(current)))
    return found


def _use(node: Node, symbol: Symbol, rank: int) -> VariableUse | None:
    if rank == 0:
        return VariableUse(node, ()) if isinstance(node, Name) and node.symbol == symbol else None
    subscripts: list[Expr] = []
    expr = node
    while isinstance(expr, Index):
        subscripts.insert(0, expr.index)
        expr = peel(expr.base)
    if isinstance(node, Index) and len(subscripts) == rank and isinstance(expr, Name) and expr.symbol == symbol:
        return VariableUse(node, tuple(subscripts))
    return None


def _is_bare(node: Node, symbol: Symbol, rank: int) -> bool:
    if isinstance(node, Verbatim | VerbatimExpr):
        return symbol in (*node.reads, *node.writes)
    if isinstance(node, Name):
        return rank > 0 and node.symbol == symbol
    if isinstance(node, Unary) and node.op == "&":
        inner = peel(node.operand)
        return _use(inner, symbol, rank) is not None
    return isinstance(node, For) and node.variable == symbol


def chains(loop: For, symbol: Symbol, depth: int) -> list[Chain] | Reason:
    """Return the chains of `depth` loops from `loop` inwards that hold every use of the variable in the loop."""
    if mentions(loop.lower, symbol) or mentions(loop.bound, symbol):
        return Reason("STP002", f"the loop's own bounds use {symbol.name}", loop.header)
    found = [Chain((loop,), True)]
    for _ in range(depth - 1):
        longer: list[Chain] = []
        for chain in found:
            inner = list(_inner(chain.loops[-1].body, True))
            loose = _loose(chain.loops[-1].body, symbol)
            if loose is not None:
                text = f"{symbol.name} is used outside the loops inside {chain.loops[-1].variable.name}"
                return Reason("STP002", text, loose.span, legal_if=("a smaller depth",))
            for loop_inside, straight in inner:
                if mentions(loop_inside.body, symbol):
                    if not isinstance(loop_inside, For):
                        return Reason("STP002", "a loop inside is not a counted one", loop_inside.header)
                    longer.append(Chain((*chain.loops, loop_inside), chain.straight and straight))
        found = longer
    return found


def _inner(node: Node, straight: bool) -> Iterator[tuple[For | While, bool]]:
    """Yield the outermost loops below `node`, and whether they always run with it."""
    if isinstance(node, For | While):
        yield node, straight
        return
    for child in children(node):
        yield from _inner(child, straight and isinstance(node, Block) and not isinstance(child, Expr))


def _loose(node: Node, symbol: Symbol) -> Node | None:
    """Return a use of the variable that stands in no loop below `node` (a loop's header is no part of it)."""
    if isinstance(node, For):
        return next((e for e in (node.lower, node.bound) if mentions(e, symbol)), None)
    if isinstance(node, While):
        return node if mentions(node, symbol) else None
    if isinstance(node, Pragma):
        return None
    if isinstance(node, Name | Verbatim | VerbatimExpr):
        return node if mentions(node, symbol) else None
    for child in children(node):
        found = _loose(child, symbol)
        if found is not None:
            return found
    return None
