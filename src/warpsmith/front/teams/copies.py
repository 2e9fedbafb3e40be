"""Copies of nodes, and nodes with other ones in their place.

Invariant: no node stands in two places; what differs from the user's text has an empty span, so that no text is taken
for its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec.structs

from warpsmith.base.records import field_names
from warpsmith.base.source import Span
from warpsmith.tree.nodes import Node
from warpsmith.tree.walk import rebuild, walk

__all__ = ["at_start", "changed", "copy_of"]

N = TypeVar("N", bound=Node)


def at_start(span: Span) -> Span:
    """Return the empty place where a text starts."""
    return Span(span.file, span.start, span.start)


def copy_of(node: N) -> N:
    """Return the same tree made of new nodes."""
    changes: dict[str, object] = {}
    for name in field_names(node):
        value = getattr(node, name)
        if isinstance(value, Node):
            changes[name] = copy_of(value)
        elif isinstance(value, tuple) and any(isinstance(item, Node) for item in value):
            changes[name] = tuple(copy_of(item) if isinstance(item, Node) else item for item in value)
    return msgspec.structs.replace(node, **changes)


def changed(node: N, change: Callable[[Node], Node]) -> N:
    """Return `node` with `change` applied below it and to it; what is not as before is text of nobody's."""
    known = {id(part) for part in walk(node)}

    def apart(part: Node) -> Node:
        made = change(part)
        if made is part and id(part) in known:
            return part
        return msgspec.structs.replace(made, span=at_start(part.span), intact=False)

    return rebuild(node, apart)
