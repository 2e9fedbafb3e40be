"""ARI001: a mask in place of a remainder by a power of two.

x % 32     x & 31

The two agree where x is not negative, and wherever only zero or not is asked. Elsewhere the remainder of a negative
number is negative, and the mask is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.base.fixes import Fix
from warpsmith.base.source import Edit
from warpsmith.fixes.brackets import brackets, operator
from warpsmith.fixes.ranges import Ranges
from warpsmith.fixes.site import Site
from warpsmith.tree.nodes import Binary, Expr, If, Literal, Node, Unary
from warpsmith.tree.walk import peel

__all__ = ["mask"]

_NUMBER: Final = re.compile(r"([1-9][0-9]*)([uUlL]*)")


def mask(site: Site, facts: KernelFacts, finding: KernelFinding) -> Iterator[Fix]:
    """Yield the mask."""
    del finding
    node = site.node
    if not isinstance(node, Binary) or node.op != "%":
        return
    sign = operator(node)
    if sign is None:
        return
    text = _ones(node.right.span.text)
    open_, close = brackets(site, node)
    edits = (*open_, Edit(sign, "&"), Edit(node.right.span, text), *close)
    found = Ranges.of(site, None if facts.block_assumed else facts.block).of_expression(node.left)
    safe = _is_tested(site, node) or (found is not None and found.least >= 0)
    yield Fix(f"& {text} in place of % {node.right.span.text}", edits, safe)


def _ones(divisor: str) -> str:
    """Return the mask for a divisor, as one would write it.

    >>> _ones("32"), _ones("8L"), _ones("WARP")
    ('31', '7L', '(WARP - 1)')
    """
    number = _NUMBER.fullmatch(divisor)
    return f"{int(number[1]) - 1}{number[2]}" if number else f"({divisor} - 1)"


def _is_tested(site: Site, node: Expr) -> bool:
    """Whether only zero or not is asked of a remainder."""
    above: Node | None = site.parent(node)
    match above:
        case Binary(op="==" | "!=", left=left, right=right):
            other = peel(right if left is node else left)
            return isinstance(other, Literal) and other.value == 0
        case Unary(op="!") | Binary(op="&&" | "||"):
            return True
        case If(condition=condition):
            return condition is node
        case _:
            return False
