"""Expressions of generated functions as a person would write them.

    a + (long long)n            a + n           an offset is as wide as a pointer anyway
    (long long)n > m            n > m           two numbers of type int
    (long long)1 * w            w               as wide as the product
    w * (long long)8            w * 8
    !(n >= 1)                   n < 1
    the smaller of n and (n >= 1 ? n : 0)               n

Invariant: the value and its type stay what they were.
"""

from __future__ import annotations

from typing import Final, TypeVar

from warpsmith.tree.nodes import Binary, Cast, Conditional, Expr, Literal, Node, Unary, replace
from warpsmith.tree.types import INT, Pointer, Scalar
from warpsmith.tree.walk import rebuild, same

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
        case Conditional():
            return _shorter_choice(node)
        case Binary(op="*", left=left, right=right) as product:
            return _shorter_product(product, left, right)
        case _:
            return node


def _shorter_choice(choice: Conditional) -> Expr:
    """Return a number in place of the smaller one of it and of what of it is positive."""
    test, then, other = choice.condition, choice.then, choice.other
    if not (isinstance(test, Binary) and test.op == "<" and isinstance(other, Conditional)):
        return choice
    smaller = same(test.left, then) and same(test.right, other) and choice.type == then.type
    return then if smaller and _is_positive_part(other, then) else choice


def _is_positive_part(expr: Conditional, number: Expr) -> bool:
    """Whether an expression is `number >= 1 ? number : 0`; the test may be of the number before it was widened."""
    test = expr.condition
    if not (isinstance(test, Binary) and test.op == ">=" and _is_one(test.right) and _is_integer(number)):
        return False
    tested = number.operand if isinstance(number, Cast) and _is_wide(number) else number
    zero = isinstance(expr.other, Literal) and expr.other.value == 0
    return zero and same(expr.then, number) and (same(test.left, number) or same(test.left, tested))


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
