"""Kernels that the parser cannot take: those with errors in them, and those that call functions with errors.

__device__ int f(…) { error }  ◄── g ◄── kernel k       k is read, but for what f gives: lost in part
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.tree.nodes import Function, Name
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import walk

__all__ = ["LostKernel", "find_partly_lost"]


class LostKernel(Struct, frozen=True):
    """A kernel that has errors in it, or calls a function that has. `name`: as one writes it; `span`: where it is
    named, `extent`: all of it."""

    name: str
    parameters: tuple[Symbol, ...]
    span: Span
    extent: Span


def find_partly_lost(functions: Iterable[Function], gone: set[Symbol]) -> Iterator[LostKernel]:
    """Yield the kernels among `functions` from which calls lead to one of the functions `gone`."""
    if not gone:
        return
    by_symbol = {function.symbol: function for function in functions}
    named = {symbol: _find_named(function) for symbol, function in by_symbol.items()}
    reached = set(gone)
    changed = True
    while changed:
        more = {symbol for symbol, names in named.items() if symbol not in reached and names & reached}
        changed = bool(more)
        reached |= more
    for symbol, function in by_symbol.items():
        if symbol in reached and function.device is not None and function.device.kernel:
            name = symbol.label or symbol.name
            yield LostKernel(name, function.parameters, symbol.span or function.span, function.span)


def _find_named(function: Function) -> set[Symbol]:
    return {node.symbol for node in walk(function.body) if isinstance(node, Name)}
