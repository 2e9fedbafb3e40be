"""Loops that are counted once it is known how many threads there are: `for (i = t; i < n; i += threads)`."""

from __future__ import annotations

from warpsmith.front.c.counted.canonical import recognize
from warpsmith.front.c.counted.writes import Knowledge
from warpsmith.front.teams.clause_text import constant_of
from warpsmith.front.teams.copies import at_start, changed
from warpsmith.front.teams.own import changes_in, is_pure
from warpsmith.tree.nodes import DeclStmt, For, Literal, Name, Node, Stmt, While
from warpsmith.tree.types import Scalar, Symbol, is_integer
from warpsmith.tree.walk import peel, walk

__all__ = ["recounted"]


def recounted(body: Stmt, fixed: frozenset[Symbol]) -> Stmt:
    """Return a region with the loops counted whose step is a constant by now. `fixed`: what keeps its value in it."""
    constants = _constants(body)

    def change(node: Node) -> Node:
        if not isinstance(node, While) or node.form != "for" or node.advance is None:
            return node
        advance = changed(node.advance, lambda part: _literal(part, constants))
        parts = recognize(node.init, node.condition, advance, node.body, Knowledge())
        if isinstance(parts, str) or not is_pure(parts.bound, fixed | constants.keys()):
            return node
        if not parts.declares or any(changes_in(node.body, parts.variable)):
            return node
        return For(
            span=at_start(node.span), variable=parts.variable, declares=True, lower=parts.lower,
            relation=parts.relation, bound=parts.bound, step=parts.step, body=node.body, header=node.header,
        )  # fmt: skip

    return changed(body, change)


def _constants(body: Node) -> dict[Symbol, int]:
    """Return the integers that a region declares with a constant value, and never changes."""
    found: dict[Symbol, int] = {}
    for part in walk(body):
        for one in part.declarations if isinstance(part, DeclStmt) else ():
            value = None if one.init is None else constant_of(peel(one.init))
            if value is not None and is_integer(one.symbol.type) and not any(changes_in(body, one.symbol)):
                found[one.symbol] = value
    return found


def _literal(part: Node, constants: dict[Symbol, int]) -> Node:
    if isinstance(part, Name) and part.symbol in constants and isinstance(part.type, Scalar):
        value = constants[part.symbol]
        return Literal(span=at_start(part.span), type=part.type, text=str(value), value=value)
    return part
