"""Nests of loops, and how large they are."""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.tree.nodes import For, If, Index, Member, Node, While
from warpsmith.tree.walk import children, walk

__all__ = ["outermost", "references"]


def outermost(node: Node) -> Iterator[For | While]:
    """Yield the outermost loops below `node`, itself included, in source order; of what a step's test chooses between,
    those of its first arm."""
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, For | While):
            yield current
        elif isinstance(current, If) and current.reasons:
            pending.append(current.then)
        else:
            pending += reversed(list(children(current)))


def references(node: Node) -> int:
    """Return how many references to elements and members stand below `node`."""
    return sum(isinstance(part, Index | Member) for part in walk(node))
