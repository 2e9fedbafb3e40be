"""Loops that only run where a test fails: a step's second copy of the user's text.

    if (&g->dt is apart from what is written) { for (i …) u[i] = dt; } else { for (i …) u[i] = g->dt; }
                                                                              └ stays on the host

Invariant: a loop that is named here has a twin with the same text in the other arm of the `if`.
"""

from __future__ import annotations

from warpsmith.tree.nodes import Function, If
from warpsmith.tree.walk import loops, walk

__all__ = ["fallback_loops"]


def fallback_loops(function: Function) -> frozenset[int]:
    """Return the identities of the loops of `function` that are such copies."""
    found: set[int] = set()
    for node in walk(function.body):
        if isinstance(node, If) and node.other is not None and not node.intact:
            first = {loop.span for loop, _ in loops(node.then)}
            second = [loop for loop, _ in loops(node.other)]
            if first and any(loop.span in first for loop in second):
                found |= {id(loop) for loop in second if loop.span in first}
    return frozenset(found)
