"""The variables that a node names, in every way that C has: in expressions, types, headers of loops, opaque text."""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.tree.nodes import Cast, For, Name, Node, SizeOf, VarDecl, Verbatim, VerbatimExpr
from warpsmith.tree.types import Symbol, Type, lengths
from warpsmith.tree.walk import names

__all__ = ["find_named"]


def find_named(node: Node) -> Iterator[Symbol]:
    """Yield the variables that a node itself names."""
    match node:
        case Name(symbol=symbol):
            yield symbol
        case For(declares=False, variable=symbol):
            yield symbol
        case Verbatim(reads=reads, writes=writes) | VerbatimExpr(reads=reads, writes=writes):
            yield from (*reads, *writes)
        case VarDecl(symbol=symbol):
            yield from _lengths(symbol.type)
        case Cast(type=type):
            yield from _lengths(type)
        case SizeOf(named=symbols):
            yield from symbols
        case _:
            return


def _lengths(type: Type) -> Iterator[Symbol]:
    return (name.symbol for length in lengths(type) for name in names(length))
