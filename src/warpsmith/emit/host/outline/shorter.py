"""Expressions of generated functions as a person would write them.

    a + (long long)n            a + n           an offset is as wide as a pointer anyway
    (long long)n > m            n > m           two numbers of type int
    (long long)1 * w            w               as wide as the product
    w * (long long)8            w * 8
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
    if isinstance(condition, Binary) and condition.op in _OPPOSITE:
        whole = _is_integer(condition.left) and _is_integer(condition.right)
        if whole or condition.op in ("==", "!="):
            return replace(condition, op=_OPPOSITE[condition.op])
    return Unary(span=condition.span, type=INT, op="!", operand=condition)


def _shorter(node: Node) -> Node:
    match node:
        case Binary(op="+" | "-", left=left, right=Cast(operand=operand) as offset) if isinstance(left.type, Pointer):
            return replace(node, right=operand) if _is_wide(offset) and _is_integer(operand) else node
        case Binary(op=op, left=Cast(operand=left) as wide, right=right) if op in _OPPOSITE:
            return replace(node, left=left) if _is_wide(wide) and _is_int(left) and _is_int(right) else node
        case Binary(op="*", left=left, right=right) as product:
            return _shorter_product(product, left, right)
        case _:
            return node


def _shorter_product(product: Binary, left: Expr, right: Expr) -> Expr:
    if _is_one(left) and right.type == product.type:
        return right
    if _is_one(right) and left.type == product.type:
        return left
    literal = right.operand if isinstance(right, Cast) and _is_wide(right) and _is_wide(left) else None
    return replace(product, right=literal) if isinstance(literal, Literal) and _is_int(literal) else product


def _is_one(expr: Expr) -> bool:
    while isinstance(expr, Cast) and isinstance(expr.type, Scalar) and expr.type.kind != "float":
        expr = expr.operand
    return isinstance(expr, Literal) and expr.value == 1 and _is_integer(expr)


def _is_wide(expr: Expr) -> bool:
    """Whether a number is as wide as a pointer, and has its own sign."""
    return isinstance(expr.type, Scalar) and expr.type.kind == "signed" and expr.type.bits == 64


def _is_int(expr: Expr) -> bool:
    return isinstance(expr.type, Scalar) and expr.type.kind == "signed" and expr.type.bits == 32


def _is_integer(expr: Expr) -> bool:
    return isinstance(expr.type, Scalar) and expr.type.kind in ("signed", "unsigned") and expr.type.bits <= 64
