"""Nests of loops, and how large they are."""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.tree.nodes import For, Index, Member, Node, While
from warpsmith.tree.walk import children, walk

__all__ = ["outermost", "references"]


def outermost(node: Node) -> Iterator[For | While]:
    """Yield the outermost loops below `node`, itself included, in source order."""
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, For | While):
            yield current
        else:
            pending += reversed(list(children(current)))


def references(node: Node) -> int:
    """Return how many references to elements and members stand below `node`."""
    return sum(isinstance(part, Index | Member) for part in walk(node))
