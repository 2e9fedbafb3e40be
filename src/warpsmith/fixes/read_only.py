"""MEM006: loads of data that nobody writes go by __ldg, and the compiler need not load them again.

s += in[i] * in[i];     s += __ldg(&in[i]) * __ldg(&in[i]);

Nothing in the function writes through the pointer. It is safe where the pointer is `const` and `__restrict__`: no other
one leads there; else a store by another name, in this launch, would not be seen.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.base.fixes import Fix
from warpsmith.base.source import Edit, Span
from warpsmith.fixes.site import Site
from warpsmith.tree.nodes import Assign, Index, Name, Node, Unary
from warpsmith.tree.types import Pointer, Scalar, Symbol
from warpsmith.tree.walk import peel, walk

__all__ = ["load_read_only"]


def load_read_only(site: Site, facts: KernelFacts, finding: KernelFinding) -> Iterator[Fix]:
    """Yield the loads of an element through the read-only cache: this one, and the same text before it."""
    del facts, finding
    load = site.node
    if site.language != "cuda" or not isinstance(load, Index) or not isinstance(load.type, Scalar):
        return
    base = peel(load.base)
    if not isinstance(base, Name) or not isinstance(base.symbol.type, Pointer) or base.symbol.storage != "parameter":
        return
    if not _is_only_read(site, base.symbol):
        return
    words = " ".join(load.span.text.split())
    alike = [
        node
        for node in walk(site.function.body)
        if isinstance(node, Index) and " ".join(node.span.text.split()) == words and _root(node) == base.symbol
    ]
    edits = tuple(edit for node in alike for edit in _wrap_load(node))
    type = base.symbol.type
    safe = type.restrict and isinstance(type.to, Scalar) and type.to.const and not site.is_template
    yield Fix(f"load {words} by __ldg", edits, safe)


def _root(node: Node) -> Symbol | None:
    base = peel(node.base) if isinstance(node, Index) else node
    return base.symbol if isinstance(base, Name) else None


def _is_only_read(site: Site, symbol: Symbol) -> bool:
    """Whether every use of a pointer is the load of an element."""
    for node in walk(site.function.body):
        if not isinstance(node, Name) or node.symbol != symbol:
            continue
        element = site.parent(node)
        if not isinstance(element, Index) or element.base is not node:
            return False
        outer = site.parent(element)
        if isinstance(outer, Assign) and outer.target is element:
            return False
        if isinstance(outer, Unary) and outer.op in ("&", "++x", "--x", "x++", "x--"):
            return False
    return True


def _wrap_load(node: Node) -> tuple[Edit, Edit]:
    span = node.span
    return Edit(Span(span.file, span.start, span.start), "__ldg(&"), Edit(Span(span.file, span.end, span.end), ")")
