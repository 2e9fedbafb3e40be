"""Aliasing by C's effective types: a store of a double cannot change an int or a pointer (C17 6.5 paragraph 7)."""

from __future__ import annotations

from collections.abc import Iterable

from warpsmith.tree.nodes import Assign, Call, Expr, Name, Node, Unary, Verbatim, VerbatimExpr
from warpsmith.tree.types import Pointer, Scalar, Type
from warpsmith.tree.walk import peel, walk

__all__ = ["apart", "keeps_types", "stored_types"]


def keeps_types(arguments: Iterable[str]) -> bool:
    """Whether a file that is compiled with these options keeps the rule."""
    return "-fno-strict-aliasing" not in arguments


def apart(one: Type, other: Type) -> bool:
    """Whether objects accessed as these types cannot overlap; character types and structs overlap with anything."""
    if isinstance(one, Pointer) and isinstance(other, Pointer):
        return False
    return _class(one) is not None and _class(other) is not None and _class(one) != _class(other)


def _class(type: Type) -> str | None:
    if isinstance(type, Pointer):
        return "pointer"
    if not isinstance(type, Scalar) or type.bits <= 8:
        return None
    kind = "integer" if type.kind in ("signed", "unsigned") else type.kind
    return f"{kind}{type.bits}"


def stored_types(node: Node) -> tuple[Type, ...] | None:
    """Return the types of all stores to memory below `node`, plain variables left out; None where calls may store."""
    found: list[Type] = []
    for part in walk(node):
        target: Expr | None = None
        if isinstance(part, Assign):
            target = peel(part.target)
        elif isinstance(part, Unary) and ("++" in part.op or "--" in part.op):
            target = peel(part.operand)
        elif isinstance(part, Call | Verbatim | VerbatimExpr):
            return None
        if target is not None and not isinstance(target, Name):
            found.append(target.type)
    return tuple(found)
