"""Pragmas that stand before a loop: what a step puts before the loop goes before them.

double *u = s->u;                 new
#pragma omp parallel for          belongs to the loop
for (i …)
"""

from __future__ import annotations

import dataclasses

from warpsmith.base.verdict import Reason
from warpsmith.loops.place import Place
from warpsmith.tree.nodes import Block, Pragma, Stmt
from warpsmith.tree.walk import walk

__all__ = ["pragma_in_the_way", "run_with_pragmas"]


def run_with_pragmas(place: Place) -> tuple[Stmt, ...]:
    """Return the loop with the pragmas that stand directly before it: nothing may come between them."""
    for node in walk(place.function.body):
        if isinstance(node, Block) and any(s is place.loop for s in node.statements):
            position = next(k for k, s in enumerate(node.statements) if s is place.loop)
            first = position
            while first and _belongs(node.statements[first - 1]):
                first -= 1
            return node.statements[first : position + 1]
    return (place.loop,)


def _belongs(stmt: Stmt) -> bool:
    """Whether a statement is a pragma about what follows it, not one that does something itself (a barrier)."""
    return isinstance(stmt, Pragma) and not (stmt.directive is not None and stmt.directive.stands_alone)


def pragma_in_the_way(place: Place) -> Reason | None:
    """Return why a pragma forbids new variables here: it lists all variables, or it binds a perfect nest."""
    for loop in (*place.around, place.loop):
        for stmt in run_with_pragmas(dataclasses.replace(place, loop=loop))[:-1]:
            text = stmt.text if isinstance(stmt, Pragma) else ""
            inner = loop is not place.loop and any(word in text for word in ("collapse", "ordered(", "tile"))
            if "default(none)" in text.replace(" ", "") or inner:
                return Reason("STP002", "a pragma allows no new variable here", stmt.span)
    return None
