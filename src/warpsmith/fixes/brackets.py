"""Brackets around an expression that a new operator binds looser than the old one: only where something could take part
of it."""

from __future__ import annotations

from warpsmith.base.source import Edit, Span
from warpsmith.fixes.site import Site
from warpsmith.tree.nodes import Assign, Binary, Call, Expr, ExprStmt, Index, Return, VarDecl

__all__ = ["brackets", "operator"]


def brackets(site: Site, node: Expr) -> tuple[tuple[Edit, ...], tuple[Edit, ...]]:
    """Return the edits that bracket an expression, in front and behind; none where it stands alone."""
    span = node.span
    text = span.file.text
    before, after = text[: span.start].rstrip()[-1:], text[span.end :].lstrip()[:1]
    above = site.parent(node)
    whole = isinstance(above, Assign) and above.value is node
    alone = whole or isinstance(above, Index | VarDecl | Return | ExprStmt)
    if alone or (before in {"(", ","} and after in {")", ","} and (before == "(" or isinstance(above, Call))):
        return (), ()
    return (Edit(Span(span.file, span.start, span.start), "("),), (Edit(Span(span.file, span.end, span.end), ")"),)


def operator(node: Binary) -> Span | None:
    """Return the place of the sign between two operands; None where comments make it unclear."""
    between = Span(node.span.file, node.left.span.end, node.right.span.start)
    at = between.text.find(node.op)
    plain = not between.text.replace(node.op, "", 1).strip(" \t\r\n()")
    return Span(between.file, between.start + at, between.start + at + len(node.op)) if at >= 0 and plain else None
