"""Values of variables that are set once, where they are declared, to a number that the text has.

    int m = N / 2, k = 2 * m - 1;          m and k, where nothing else writes them and no pointer leads to them
    unsigned char c = 300;                 not c: the value is converted

Limits: integers, and operations none of which wraps, overflows or converts a negative number.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Final

from warpsmith.tree.nodes import Binary, Cast, Expr, Function, Literal, MacroUse, Name, SizeOf, Unary, VarDecl
from warpsmith.tree.types import Scalar, Symbol, Type, integer_range, is_integer
from warpsmith.tree.walk import peel, walk

__all__ = ["constant_variables", "number_of"]

_WIDEST: Final = 63


def constant_variables(function: Function, changed: Set[Symbol]) -> dict[Symbol, int]:
    """Return the local variables of a function that have one value, which is known; `changed`: those that something
    besides their declaration may write."""
    found: dict[Symbol, int] = {}
    for node in walk(function.body):
        if isinstance(node, VarDecl) and node.init is not None and node.symbol.storage == "local":
            value = None if node.symbol in changed else number_of(node.init, found)
            type = node.symbol.type
            if value is not None and _in_range(value, type) == value and isinstance(type, Scalar) and not type.volatile:
                found[node.symbol] = value
    return found


def number_of(expr: Expr, known: Mapping[Symbol, int]) -> int | None:
    """Return the value of an integer expression of numbers and `known` variables; None where it is not known."""
    expr = peel(expr)
    if isinstance(expr, MacroUse):
        return number_of(expr.expansion, known)
    if isinstance(expr, Literal | SizeOf):
        return expr.value if isinstance(expr.value, int) else None
    if isinstance(expr, Name):
        return expr.symbol.value if expr.symbol.storage == "enumerator" else known.get(expr.symbol)
    if isinstance(expr, Cast):
        return _in_range(number_of(expr.operand, known), expr.type)
    if isinstance(expr, Unary) and expr.op in ("-", "+"):
        inner = _in_range(number_of(expr.operand, known), expr.type)
        return None if inner is None else _in_range(-inner if expr.op == "-" else inner, expr.type)
    if isinstance(expr, Binary) and expr.op in ("+", "-", "*", "/", "%", "<<", ">>"):
        left, right = (_in_range(number_of(side, known), expr.type) for side in (expr.left, expr.right))
        return None if left is None or right is None else _in_range(_computed(expr.op, left, right), expr.type)
    return None


def _computed(op: str, left: int, right: int) -> int | None:
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/" | "%" if right:
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return quotient if op == "/" else left - quotient * right
        case "<<" if left >= 0 and 0 <= right < _WIDEST:
            return left << right
        case ">>" if left >= 0 and 0 <= right < _WIDEST:
            return left >> right
    return None


def _in_range(value: int | None, type: Type) -> int | None:
    """Return a value if the type has it."""
    if value is None or not isinstance(type, Scalar) or not is_integer(type):
        return None
    low, high = integer_range(type)
    return value if low <= value <= high else None
