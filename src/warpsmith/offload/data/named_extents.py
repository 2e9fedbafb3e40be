"""Long extents of buffers get names, so that a person can read what is moved.

    double *p_gpu = acquire((n >= 2 && … ? … : 0) * 8);          long long p_bytes = (n >= 2 && … ? … : 0) * 8;
    copy_to_device(p_gpu, p + 1, (n >= 2 && … ? … : 0) * 8);  →   double *p_gpu = acquire(p_bytes);
    k1(p_gpu - 1);                                                copy_to_device(p_gpu, p + 1, p_bytes);
    …                                                             k1(p_gpu - 1); …

Invariant: an extent means one number from the place where its buffer is acquired to where it is released, so that every
device statement which says it may say its name instead. Nothing else changes, and what is short or said once stays.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TypeVar

from warpsmith.offload.data.cancel import cancel_terms
from warpsmith.offload.expressions import name
from warpsmith.offload.names import Names
from warpsmith.offload.transfers.flow import ProgramPoint
from warpsmith.offload.transfers.insertion import Edits, rewritten_run
from warpsmith.poly.isl.simplify import simplify
from warpsmith.tree.nodes import (
    Binary,
    Conditional,
    Copy,
    DataEnter,
    DeclStmt,
    DeviceAlloc,
    Expr,
    Launch,
    Name,
    Node,
    Stmt,
    VarDecl,
    replace,
)
from warpsmith.tree.printing.printer import nothing, print_expr
from warpsmith.tree.types import LONG_LONG, Pointer, Symbol
from warpsmith.tree.walk import children, rebuild, walk

__all__ = ["named_extents"]

N = TypeVar("N", bound=Node)
Device = DeviceAlloc | DataEnter | Copy | Launch
Known = dict[str, Symbol]
"""The names of a buffer's extents, by their text."""

# as long as a sum of a few names
_LONGEST = 32


def named_extents(statements: tuple[Stmt, ...], fresh: Names, owner: Symbol) -> tuple[Stmt, ...]:
    """Return the statements of an offload region in the function `owner` with their sizes said shorter, and with names
    for the extents that they repeat."""
    if not any(isinstance(part, Device) for stmt in statements for part in walk(stmt)):
        return statements
    statements = tuple(rebuild(stmt, _simplify_sizes) for stmt in statements)
    device = [part for stmt in statements for part in walk(stmt) if isinstance(part, Device)]
    said = "\n".join(_text(part) for one in device for part in children(one) if isinstance(part, Expr))
    named: dict[Symbol, Known] = {}
    edits = Edits()
    for enter in device:
        if not isinstance(enter, DeviceAlloc | DataEnter):
            continue
        known = named.setdefault(enter.buffer, {})
        variable = enter.host if isinstance(enter, DeviceAlloc) else enter.variable
        for role, extent in _extents(device, enter):
            if not isinstance(extent, Binary | Conditional):
                continue
            text = _text(extent)
            if len(text) > _LONGEST and said.count(text) > 1 and text not in known:
                own = fresh.fresh(f"{variable.name}_{role}")
                symbol = Symbol(own, f"{owner.key}:{own}", LONG_LONG, "local", enter.span)
                declaration = VarDecl(span=enter.span, symbol=symbol, init=_with_names(extent, known))
                edits.at(ProgramPoint("before", enter), [DeclStmt(span=enter.span, declarations=(declaration,))])
                known[text] = symbol
    if not any(named.values()):
        return statements
    written = rewritten_run(statements, edits)
    return tuple(rebuild(stmt, lambda node: _rename_extents(node, named)) for stmt in written)


def _simplify_sizes(node: Node) -> Node:
    """Return a device statement with what it says of sizes and addresses said shorter."""
    if not isinstance(node, Device):
        return node
    shorter = rebuild(node, lambda part: simplify(part) if isinstance(part, Conditional) else part)
    return rebuild(shorter, lambda part: cancel_terms(part) if isinstance(part, Binary) else part)


def _extents(device: list[Device], enter: DeviceAlloc | DataEnter) -> Iterator[tuple[str, Expr]]:
    """Yield the number of a buffer's first element, which addresses say, and its size in bytes."""
    copies = (one.host for one in device if isinstance(one, Copy) and one.buffer == enter.buffer)
    address = enter.address if isinstance(enter, DataEnter) else next(copies, None)
    if isinstance(address, Binary) and address.op == "+" and isinstance(address.type, Pointer):
        yield "first", address.right
    yield "bytes", enter.bytes


def _rename_extents(node: Node, named: Mapping[Symbol, Known]) -> Node:
    """Return a device statement with the names of its buffers' extents."""
    match node:
        case DeviceAlloc() | DataEnter() | Copy():
            return _with_names(node, named.get(node.buffer, {}))
        case Launch():
            buffers = ((a, next((b for b in _symbols(a) if b in named), None)) for a in node.arguments)
            given = tuple(a if b is None else _with_names(a, named[b]) for a, b in buffers)
            return replace(node, arguments=given) if given != node.arguments else node
        case _:
            return node


def _symbols(expr: Expr) -> Iterator[Symbol]:
    return (part.symbol for part in walk(expr) if isinstance(part, Name))


def _with_names(node: N, known: Known) -> N:
    """Return `node` with names for the known extents in it, the longest first: one may be a part of another."""
    for text, symbol in sorted(known.items(), key=lambda item: -len(item[0])):
        node = rebuild(node, partial(_name_extent, text, symbol))
    return node


def _name_extent(text: str, symbol: Symbol, part: Node) -> Node:
    is_extent = isinstance(part, Binary | Conditional) and part.type == LONG_LONG and _text(part) == text
    return name(symbol, part.span) if is_extent else part


# every name is looked for in every statement of the region
@functools.lru_cache(maxsize=4096)
def _text(expr: Expr) -> str:
    return print_expr(expr, nothing)
