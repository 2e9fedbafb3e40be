"""MEM010: rows of a shared array one element longer, so that what stood in one bank stands in all.

__shared__ float tile[32][32];     lane k reads word 32·k: bank 0     tile[32][33]: word 33·k: bank k

Every use names one element by all its subscripts, so that only the distance of rows changes. It is safe where every
subscript behind the first is known to stay inside its dimension; a program that leaves one, and counts on the next row
to stand there, sees the padding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.base.fixes import Fix
from warpsmith.base.source import Edit, Span
from warpsmith.fixes.ranges import Ranges
from warpsmith.fixes.site import Site
from warpsmith.tree.nodes import (
    Call,
    Expr,
    Index,
    Name,
    Node,
    SizeOf,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
)  # fmt: skip
from warpsmith.tree.types import Array, Scalar, Symbol, Type
from warpsmith.tree.walk import peel, walk

__all__ = ["pad"]

_BRACKETS: Final = re.compile(r"\s*\[([^\[\]]*)\]")
_SUM: Final = re.compile(r"[\w\s*+()]+")


def pad(site: Site, facts: KernelFacts, finding: KernelFinding) -> Iterator[Fix]:
    """Yield the declaration with a longer last dimension."""
    del finding
    symbol = _array(site.node)
    if symbol is None or symbol.space != "shared" or _is_declared_with_value(site, symbol):
        return
    extents = _extents(symbol.type)
    uses = _uses(site, symbol, len(extents))
    group = _last_extent(symbol, len(extents))
    if len(extents) < 2 or uses is None or group is None:
        return
    ranges = Ranges.of(site, None if facts.block_assumed else facts.block)
    safe = all(_stays(ranges, use, extents) for use in uses)
    text = _longer(group.text)
    yield Fix(f"declare {symbol.name} with rows of {text}", (Edit(group, text),), safe)


def _array(node: Node) -> Symbol | None:
    """Return the variable whose element a node is."""
    base: Node = node
    while isinstance(base, Index):
        base = peel(base.base)
    return base.symbol if isinstance(base, Name) and isinstance(base.symbol.type, Array) else None


def _extents(type: Type) -> tuple[int, ...]:
    """Return the dimensions of an array of numbers; none where they are not all known."""
    found: list[int] = []
    while isinstance(type, Array):
        if type.count is None:
            return ()
        found.append(type.count)
        type = type.of
    return tuple(found) if isinstance(type, Scalar) else ()


def _is_declared_with_value(site: Site, symbol: Symbol) -> bool:
    declared = [node for node in walk(site.function.body) if isinstance(node, VarDecl) and node.symbol == symbol]
    return len(declared) != 1 or declared[0].init is not None


def _uses(site: Site, symbol: Symbol, dimensions: int) -> list[tuple[Expr, ...]] | None:
    """Return the subscripts of every use; None where one is more, or less, than one element."""
    found: list[tuple[Expr, ...]] = []
    word = re.compile(rf"\b{re.escape(symbol.name)}\b")
    for node in walk(site.function.body):
        if isinstance(node, SizeOf | Verbatim | VerbatimExpr) and word.search(node.text):
            return None
        if isinstance(node, Name) and node.symbol == symbol:
            subscripts = _subscripts(site, node, dimensions)
            if subscripts is None:
                return None
            found.append(subscripts)
    return found


def _subscripts(site: Site, use: Name, dimensions: int) -> tuple[Expr, ...] | None:
    node: Node = use
    found: list[Expr] = []
    for _ in range(dimensions):
        above = site.parent(node)
        if not isinstance(above, Index) or above.base is not node:
            return None
        found.append(above.index)
        node = above
    outer = site.parent(node)
    if isinstance(outer, Unary) and outer.op == "&" and not _is_atomic(site.parent(outer)):
        return None
    return tuple(found)


def _is_atomic(node: Node | None) -> bool:
    if not isinstance(node, Call):
        return False
    callee = peel(node.function)
    return isinstance(callee, Name) and callee.symbol.name.startswith("atomic")


def _last_extent(symbol: Symbol, dimensions: int) -> Span | None:
    """Return the text of the last dimension in the declaration."""
    name = symbol.span
    if name is None or name.text != symbol.name:
        return None
    position, group = name.end, None
    for _ in range(dimensions):
        group = _BRACKETS.match(name.file.text, position)
        if group is None:
            return None
        position = group.end()
    if group is None or not group[1].strip() or "/" in group[1]:
        return None
    start = group.start(1) + len(group[1]) - len(group[1].lstrip())
    return Span(name.file, start, start + len(group[1].strip()))


def _longer(text: str) -> str:
    """Return a dimension that is longer by one.

    >>> _longer("32"), _longer("TILE"), _longer("1 << 5")
    ('33', 'TILE + 1', '(1 << 5) + 1')
    """
    if text.isdecimal() and not text.startswith("0"):
        return str(int(text) + 1)
    return f"{text} + 1" if _SUM.fullmatch(text) else f"({text}) + 1"


def _stays(ranges: Ranges, use: tuple[Expr, ...], extents: tuple[int, ...]) -> bool:
    """Whether every subscript behind the first stays inside its dimension."""
    found = [ranges.of_expression(index) for index in use[1:]]
    return all(r is not None and r.least >= 0 and r.most < extent for r, extent in zip(found, extents[1:], strict=True))
