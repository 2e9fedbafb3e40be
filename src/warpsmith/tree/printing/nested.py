"""Statements whose text has gotos where the tree has branches (front/c/jumps/nest.py).

    text   if (c) goto L; s; L:          tree   if (!c) s;                   the text reaches to the label
    text   for (…) if (c) goto L; L:     tree   for (…) if (c) break;

Invariant: all gotos in such a text lead to labels in it, so the one form or the other is right, and a mixture is not:
a part of it that changes is a change of the whole.
"""

from __future__ import annotations

import functools

from warpsmith.tree.nodes import Break, For, If, Loop, Node, Switch, While, replace
from warpsmith.tree.walk import N, children, rebuild, walk

__all__ = ["contains_nested", "is_nested", "without_text"]


def is_nested(node: Node) -> bool:
    """Whether the text of a statement has gotos for which its tree has branches or breaks."""
    if node.intact:
        return False
    if isinstance(node, For | While):
        return _is_left(node)
    parts = node.cases if isinstance(node, Switch) else (node.then,) if isinstance(node, If) else ()
    # a macro's own branches have no text either, but stand in no text of their own
    return node.span.start < node.span.end and any(part.span.start == part.span.end for part in parts)


def _is_left(loop: Loop) -> bool:
    """Whether a goto leaves a loop, for which the tree has a break."""
    pending: list[Node] = [loop.body]
    while pending:
        part = pending.pop()
        if isinstance(part, Break):
            if _is_goto(part):
                return True
        elif not isinstance(part, For | While | Switch):
            pending += children(part)
    return False


def _is_goto(stmt: Break) -> bool:
    return stmt.span.text.startswith("goto")


@functools.lru_cache(maxsize=8192)
def contains_nested(node: Node) -> bool:
    """Whether such a statement stands in a node, or is it, or has a goto of it."""
    return any(is_nested(part) or (isinstance(part, Break) and _is_goto(part)) for part in walk(node))


def without_text(node: N) -> N:
    """Return a node that is not intact where such a statement stands in it."""
    return rebuild(node, lambda part: replace(part) if is_nested(part) else part)
