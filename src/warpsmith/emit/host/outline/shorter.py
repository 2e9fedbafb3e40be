"""Expressions of generated functions as a person would write them.

    a + (long long)n            a + n           an offset is as wide as a pointer anyway
    (long long)1 * n            n
    !(n >= 1)                   n < 1

Invariant: the value and its type stay what they were.
"""

from __future__ import annotations

from typing import Final, TypeVar

from warpsmith.tree.nodes import Binary, Cast, Expr, Literal, Node, Unary, replace
from warpsmith.tree.types import INT, Pointer, Scalar
from warpsmith.tree.walk import rebuild

__all__ = ["negate", "shorten"]

N = TypeVar("N", bound=Node)
_OPPOSITE: Final = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def shorten(node: N) -> N:
    """Return an expression, or a statement with its expressions, in fewer words."""
    return rebuild(node, _shorter)


def negate(condition: Expr) -> Expr:
    """Return an expression that holds where `condition` does not."""
    if isinstance(condition, Binary) and _is_integer(condition.left) and _is_integer(condition.right):
        opposite = _OPPOSITE.get(condition.op)
        if opposite is not None:
            return replace(condition, op=opposite)
    return Unary(span=condition.span, type=INT, op="!", operand=condition)


def _shorter(node: Node) -> Node:
    match node:
        case Binary(op="+" | "-", left=left, right=Cast(operand=operand) as offset) if isinstance(left.type, Pointer):
            return replace(node, right=operand) if _is_wide(offset) and _is_integer(operand) else node
        case Binary(op="*", left=left, right=right):
            if _is_one(left) and right.type == node.type:
                return right
            return left if _is_one(right) and left.type == node.type else node
        case _:
            return node


def _is_one(expr: Expr) -> bool:
    while isinstance(expr, Cast) and isinstance(expr.type, Scalar) and expr.type.kind != "float":
        expr = expr.operand
    return isinstance(expr, Literal) and expr.value == 1 and _is_integer(expr)


def _is_wide(expr: Expr) -> bool:
    """Whether a number is as wide as a pointer, and has its own sign."""
    return isinstance(expr.type, Scalar) and expr.type.kind == "signed" and expr.type.bits == 64


def _is_integer(expr: Expr) -> bool:
    return isinstance(expr.type, Scalar) and expr.type.kind in ("signed", "unsigned") and expr.type.bits <= 64
