"""Comparing section bounds: whether two host expressions are plainly equal.

Bounds are read as sums of products of whole numbers (poly writes them in 64 bits); anything else is an atom that equals
only itself, as text.
"""

from __future__ import annotations

from warpsmith.poly.isl.polynomial import Polynomial, atom
from warpsmith.poly.isl.polynomial import constant as plain
from warpsmith.tree.nodes import Binary, Cast, Expr, Literal, Name, Unary
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.types import Scalar, Type, is_integer
from warpsmith.tree.walk import peel, same

__all__ = ["constant", "same_value", "value_polynomial"]


def same_value(left: Expr, right: Expr) -> bool:
    """Whether two bounds are plainly equal.

    `N*N - 1 + 1` equals `N * N`; two conditional bounds are equal where they have the same structure.
    """
    return same(left, right) or (value_polynomial(left) - value_polynomial(right)).number == 0


def constant(expr: Expr) -> int | None:
    """Return the value of an integer expression of literals, enumerators, + - * << and casts to integers; else None."""
    match peel(expr):
        case Literal(value=int() as value):
            return value
        case Name(symbol=symbol):
            return symbol.value
        case Unary(op="-", operand=operand):
            inner = constant(operand)
            return None if inner is None else -inner
        case Cast(type=type, operand=operand) if is_integer(type):
            return constant(operand)
        case Binary(op="+" | "-" | "*" as op, left=left, right=right):
            a, b = constant(left), constant(right)
            if a is None or b is None:
                return None
            return a + b if op == "+" else a - b if op == "-" else a * b
        case Binary(op="<<", type=Scalar(bits=bits), left=left, right=right):
            a, b = constant(left), constant(right)
            fits = a is not None and b is not None and a >= 0 and 0 <= b < bits and a << b < 1 << (bits - 1)
            return a << b if fits and a is not None and b is not None else None
        case _:
            return None


def value_polynomial(expr: Expr) -> Polynomial:
    """Return the sum of products that a whole number is; what is not known to be one is an atom."""
    expr = peel(expr)
    match expr:
        case Literal(value=int() as value):
            return plain(value)
        case Name():
            return atom(expr.symbol.key)
        case Cast(type=type, operand=operand) if _widens(type, operand.type):
            return value_polynomial(operand)
        case Unary(op="-", operand=operand) if _is_wide(expr.type) or constant(operand) is not None:
            return -value_polynomial(operand)
        case Binary(op="+" | "-" | "*") if _is_wide(expr.type) or constant(expr) is not None:
            left, right = value_polynomial(expr.left), value_polynomial(expr.right)
            return left + right if expr.op == "+" else left - right if expr.op == "-" else left * right
        case _:
            return atom(print_expr(expr))


def _is_wide(type: Type) -> bool:
    return isinstance(type, Scalar) and type.kind == "signed" and type.bits == 64


def _widens(to: Type, source: Type) -> bool:
    """Whether a conversion keeps every value."""
    if not (isinstance(to, Scalar) and isinstance(source, Scalar) and is_integer(to) and is_integer(source)):
        return False
    return to.kind == "signed" and to.bits >= source.bits + (source.kind == "unsigned")
