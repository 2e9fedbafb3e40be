"""Initializers that are computed by statements: the declaration is its head, and a block stands for the rest.

    const double s = std::accumulate(b, e, 0.0);      DeclStmt `const double s`, Block `= std::accumulate(b, e, 0.0);`
                                                      the block: { double sum = 0.0; For …; s = sum; }
    const double s = [&] { double s; … s = sum; return s; }();      as text, where something in it was rewritten

Invariant: the two stand one behind the other, and only the block gives the variable a value. Text of one without the
other is no statement of C++: a block that was moved elsewhere does not compile.
"""

from __future__ import annotations

from warpsmith.tree.nodes import Assign, Block, ExprStmt, Name, Node
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import peel

__all__ = ["find_computed", "is_computed"]


def is_computed(node: Node | None) -> bool:
    """Whether a statement stands for the initializer of the declaration before it, as text."""
    return isinstance(node, Block) and node.span.text.startswith("=")


def find_computed(block: Block) -> Symbol | None:
    """Return the variable that a block stands for the initializer of; None for any other block."""
    if not is_computed(block):
        return None
    for stmt in reversed(block.statements):
        assigned = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
        if isinstance(assigned, Assign) and isinstance(target := peel(assigned.target), Name):
            return target.symbol
    return None
