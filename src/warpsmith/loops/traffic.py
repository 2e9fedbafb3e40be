"""Which memory the text of a loop touches: the figures from which a run's bytes are estimated.

    for (i …)                    loop 0
        for (j …)                loop 1
            s += a[i][j] * x[j];     a: 8 bytes, moved by loops 0 and 1;  x: 8 bytes, moved by loop 1

Limits: scalars behind subscripts, `*` and `->` count; what a subscript reads from memory moves it as its own names do.
An estimate for ranking, never a reason for a verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warpsmith.tree.nodes import Assign, Index, Member, Node, Unary
from warpsmith.tree.types import Scalar, Symbol
from warpsmith.tree.walk import names, peel, root_symbol

__all__ = ["Touched", "target_of", "touched_by"]


@dataclass(frozen=True, slots=True)
class Touched:
    """One reference to memory: the `array` by its variable's key, the `bytes` of one element, whether it is `read` and
    `written`, and the numbers of the loops whose counters move it."""

    array: str
    bytes: int
    read: bool
    written: bool
    moved: tuple[int, ...]


def touched_by(node: Node, counters: Mapping[Symbol, int]) -> Touched | None:
    """Return what a node itself touches, its operands left out; `counters` has the loops around it by their counter.
    What is assigned is touched by the assignment, see `target_of`."""
    target = target_of(node)
    read, written = not (isinstance(node, Assign) and node.op == "="), target is not None
    node = target if target is not None else node
    if not _is_memory(node) or not isinstance(node, Index | Member | Unary) or not isinstance(node.type, Scalar):
        return None
    root = root_symbol(node)
    moved = {counters[n.symbol] for n in names(node) if n.symbol in counters}
    return Touched(
        root.key if root is not None else "", max(1, node.type.bits // 8), read, written, tuple(sorted(moved))
    )


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
