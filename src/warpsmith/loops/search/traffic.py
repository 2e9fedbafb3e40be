"""Which memory the text of a loop touches: the figures from which a run's bytes are estimated.

    for (i …)                    loop 0
        for (j …)                loop 1
            int c = i * n + j;
            s += a[c] * g->x[j];     a: 8 bytes, moved by loops 0 and 1;  g->x: 8 bytes, moved by loop 1

A counter moves with its loop, and so does every variable that is worked out from one (`Moving`). Limits: scalars behind
subscripts, `*` and `->` count; what a subscript reads from memory moves it as its own names do. An estimate for
ranking, never a reason for a verdict.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from warpsmith.tree.nodes import Assign, Expr, Index, Member, Name, Node, Unary, VarDecl
from warpsmith.tree.types import Scalar, Symbol
from warpsmith.tree.walk import names, peel, root_symbol

__all__ = ["ArrayTraffic", "Moving", "find_moved_by", "target_of", "traffic_of"]

Moving = Mapping[Symbol, frozenset[int]]
"""Variables with the numbers of the loops that they move with."""


class ArrayTraffic(Struct, frozen=True):
    """One reference to memory: the `array` by its variable's key and the members on the way to it, the `bytes` of one
    element, whether it is `read` and `written`, and the numbers of the loops that move it."""

    array: str
    bytes: int
    read: bool
    written: bool
    moved: tuple[int, ...]


def traffic_of(node: Node, moving: Moving) -> ArrayTraffic | None:
    """Return what a node itself touches, its operands left out. What is assigned is touched by the assignment, see
    `target_of`."""
    target = target_of(node)
    read, written = not (isinstance(node, Assign) and node.op == "="), target is not None
    node = target if target is not None else node
    if not _is_memory(node) or not isinstance(node, Index | Member | Unary) or not isinstance(node.type, Scalar):
        return None
    return ArrayTraffic(_array(node), max(1, node.type.bits // 8), read, written, tuple(sorted(_moves(node, moving))))


def find_moved_by(node: Node, loop: int, moving: Moving) -> tuple[Symbol, frozenset[int]] | None:
    """Return the variable that a node of a loop's body sets, and the loops that it moves with from then on."""
    if isinstance(node, VarDecl):
        return (node.symbol, _moves(node.init, moving)) if node.init is not None else None
    target = target_of(node)
    if not isinstance(target, Name):
        return None
    symbol, value = target.symbol, node.value if isinstance(node, Assign) else target
    # what depends on its own last value moves with every iteration
    again = not (isinstance(node, Assign) and node.op == "=") or any(n.symbol == symbol for n in names(value))
    known = moving.get(symbol, frozenset()) if again else frozenset()
    return symbol, known | _moves(value, moving) | (frozenset({loop}) if again else frozenset())


def _moves(node: Expr, moving: Moving) -> frozenset[int]:
    return frozenset().union(*(moving.get(n.symbol, ()) for n in names(node)))


def _array(node: Expr) -> str:
    """Return what tells one array from another: its variable, and the members on the way."""
    root, members = root_symbol(node), list[str]()
    while isinstance(node, Index | Member | Unary):
        members += [node.field] if isinstance(node, Member) else []
        node = peel(node.operand if isinstance(node, Unary) else node.base)
    return ".".join([root.key if root is not None else "", *reversed(members)])


def target_of(node: Node) -> Node | None:
    """Return what a node assigns or counts up or down."""
    if isinstance(node, Assign):
        return peel(node.target)
    if isinstance(node, Unary) and ("++" in node.op or "--" in node.op):
        return peel(node.operand)
    return None


def _is_memory(node: Node) -> bool:
    """Whether an lvalue lies behind a subscript or a pointer."""
    match node:
        case Index() | Unary(op="*") | Member(arrow=True):
            return True
        case Member(base=base):
            return _is_memory(peel(base))
        case _:
            return False
