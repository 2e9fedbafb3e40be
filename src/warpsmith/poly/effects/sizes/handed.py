"""How many elements a parameter points to at least, whoever calls: the arrays that calls hand over.

    void f(const double *k) { … if (c[i] < 0) y[i] += k[2]; … }
    double a[3], b[5];  f(a);  f(b);                               k: at least 3

Invariant: in every call of the function, as many elements are there from where the parameter points on. Asked of the
whole program: a caller that nobody has seen may hand over less.
Limits: arrays with constant extents, handed over by their names.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.poly.effects.effects import find_escaped
from warpsmith.poly.effects.library import mentions
from warpsmith.poly.effects.outside import outside_of
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.effects.variables import Variables
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.tree.nodes import Call, Expr, Function, GlobalDecl, Name, Node, Verbatim, VerbatimExpr
from warpsmith.tree.types import Array, Pointer, Symbol, Type, byte_size, element_type
from warpsmith.tree.walk import peel, walk

__all__ = ["handed_elements"]


def handed_elements(known: Summaries, function: Function, symbol: Symbol) -> int | None:
    """Return how many elements (innermost ones) there are behind a parameter in every call, as long as the function
    runs; None where that is not known."""
    return known.remember(("handed", function, symbol), lambda: _least(known, function, symbol))


def _least(known: Summaries, function: Function, symbol: Symbol) -> int | None:
    if symbol not in function.parameters or not isinstance(symbol.type, Pointer) or not _is_closed(known):
        return None
    if Variables.of(known, function).writes_of(symbol) or symbol in find_escaped(known.program, function, known):
        return None
    calls = _find_calls(known, function.symbol)
    if not calls:
        return None
    position = function.parameters.index(symbol)
    sizes = [_size(call.arguments[position], symbol) if position < len(call.arguments) else None for call in calls]
    found = [size for size in sizes if size is not None]
    return min(found) if len(found) == len(sizes) else None


def _is_closed(known: Summaries) -> bool:
    """Whether all code of the program is known, but for libraries."""
    program = known.program
    if program.outside is not None:
        return outside_of(program).closed
    return any(function.symbol.name == "main" for _, function in program.functions())


def _find_calls(known: Summaries, symbol: Symbol) -> list[Call] | None:
    """Return every call of a function; None where its name stands for anything else."""
    if symbol.name in outside_of(known.program).mentioned:
        return None
    found: list[Call] = []
    for top in _tops(known):
        if symbol.name not in mentions(top):
            continue
        named = [n for n in walk(top) if isinstance(n, Name) and n.symbol.name == symbol.name]
        calls = [n for n in walk(top) if isinstance(n, Call) and direct_call(n) == symbol]
        opaque = any(isinstance(n, Verbatim | VerbatimExpr) and symbol.name in mentions(n) for n in walk(top))
        if opaque or len(named) != len(calls):
            return None
        found += calls
    return found


def _tops(known: Summaries) -> Iterator[Node]:
    yield from known.definitions.values()
    for unit in known.program.units:
        yield from (item for item in unit.items if isinstance(item, GlobalDecl))


def _size(argument: Expr, symbol: Symbol) -> int | None:
    """Return how many elements an argument points to, where it is an array by its name."""
    named = peel(argument)
    if not isinstance(named, Name) or not isinstance(named.symbol.type, Array):
        return None
    count = 1
    inner: Type = named.symbol.type
    while isinstance(inner, Array):
        if inner.count is None:
            return None
        count, inner = count * inner.count, inner.of
    size = byte_size(inner)
    return count if size is not None and size == byte_size(element_type(symbol.type)) else None
