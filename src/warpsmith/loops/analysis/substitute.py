"""Copies of statements, with variables of their own, and with expressions in place of variables.

Invariant: no node of a copy stands elsewhere in the tree, and no variable declared in a copy is declared elsewhere:
facts are kept by node and by symbol, and two scopes with the same symbol would be taken for one variable.
A copy keeps its names, so what was the user's text still is.

Limits: text that is not modelled, and types with a length in them, cannot be changed inside (`fixed_text` says where).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar, cast

import msgspec.structs

from warpsmith.base.records import field_names
from warpsmith.loops.fresh import Fresh, declared_symbols
from warpsmith.tree.nodes import Cast, Expr, For, Name, Node, SizeOf, Unary, VarDecl, Verbatim, VerbatimExpr, replace
from warpsmith.tree.text.lexical import identifiers
from warpsmith.tree.types import Symbol, Type, lengths
from warpsmith.tree.walk import children, names, rebuild, walk

__all__ = ["copy_tree", "fixed_text", "replace_values", "with_symbols"]

N = TypeVar("N", bound=Node)


def copy_tree(node: N, fresh: Fresh | None = None) -> N:
    """Return a copy of `node`, all of it new nodes; with `fresh`, the variables declared in it are new ones too."""
    symbols = {} if fresh is None else {s: fresh.again(s) for s in declared_symbols(node) if s.storage == "local"}
    return with_symbols(node, symbols)


def with_symbols(node: N, symbols: Mapping[Symbol, Symbol]) -> N:
    """Return a copy of `node` with other variables in place of some. One that keeps its name keeps the user's text."""
    made: dict[int, Node] = {}
    # A node that was not intact itself (a declarator) hides from those above it that a name in it has changed.
    renamed: set[int] = set()
    for part in reversed(list(walk(node))):
        if _is_renamed(part, symbols) or any(id(child) in renamed for child in children(part)):
            renamed.add(id(part))
        copy = _copy(part, made, symbols)
        made[id(part)] = replace(copy) if copy.intact and id(part) in renamed else copy
    return cast(N, made[id(node)])


def _is_renamed(node: Node, symbols: Mapping[Symbol, Symbol]) -> bool:
    own = (getattr(node, name) for name in field_names(node))
    return any(isinstance(s, Symbol) and s in symbols and symbols[s].name != s.name for s in own)


def _copy(node: Node, made: Mapping[int, Node], symbols: Mapping[Symbol, Symbol]) -> Node:
    changes: dict[str, object] = {}
    intact = node.intact
    for name in field_names(node):
        value = getattr(node, name)
        if isinstance(value, Node):
            changes[name] = part = made.get(id(value), value)
            intact = intact and part.intact >= value.intact
        elif isinstance(value, Symbol):
            changes[name] = symbol = symbols.get(value, value)
            intact = intact and symbol.name == value.name
        elif isinstance(value, tuple) and value:
            items = tuple(_item(item, made, symbols) for item in value)
            changes[name] = items
            intact = intact and all(_is_kept(a, b) for a, b in zip(value, items, strict=True))
    if isinstance(node, Name) and node.symbol in symbols and node.type == node.symbol.type:
        changes["type"] = symbols[node.symbol].type
    return msgspec.structs.replace(node, **{**changes, "intact": intact})


def _item(item: object, made: Mapping[int, Node], symbols: Mapping[Symbol, Symbol]) -> object:
    if isinstance(item, Node):
        return made.get(id(item), item)
    return symbols.get(item, item) if isinstance(item, Symbol) else item


def _is_kept(old: object, new: object) -> bool:
    return not (isinstance(old, Node) and isinstance(new, Node)) or new.intact >= old.intact


def replace_values(node: N, values: Mapping[Symbol, Expr]) -> N:
    """Return `node` with a copy of `values[v]` for every use of a variable v (which `node` must not write)."""

    def change(part: Node) -> Node:
        if isinstance(part, Name) and part.symbol in values:
            return copy_tree(values[part.symbol])
        return part

    return rebuild(node, change)


def fixed_text(node: Node, symbols: frozenset[Symbol]) -> Node | None:
    """Return a part of `node` that names one of `symbols` in a text or a type that cannot be changed, or None."""
    return next((part for part in walk(node) if _is_fixed(part, symbols)), None)


def _is_fixed(part: Node, symbols: frozenset[Symbol]) -> bool:
    match part:
        case Verbatim(reads=reads, writes=writes) | VerbatimExpr(reads=reads, writes=writes):
            return bool(symbols & {*reads, *writes})
        case VarDecl(symbol=symbol) | For(variable=symbol):
            return _is_measured_by(symbol.type, symbols)
        case Cast(type=type):
            return _is_measured_by(type, symbols)
        case SizeOf(text=text):
            return bool({symbol.name for symbol in symbols} & identifiers(text))
        case Unary(op="&", operand=Name(symbol=symbol)):
            return symbol in symbols
        case _:
            return False


def _is_measured_by(type: Type, symbols: frozenset[Symbol]) -> bool:
    """Whether a length in `type` is made of one of `symbols`."""
    return any(name.symbol in symbols for length in lengths(type) for name in names(length))
