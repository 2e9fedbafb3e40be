"""The value of a host expression that the analysis made (a guard, a bound) for given variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from warpsmith.tree.nodes import Binary, Cast, Conditional, Expr, Literal, Name, Unary
from warpsmith.tree.walk import peel


def value(expr: Expr, names: Mapping[str, int]) -> int:
    expr = peel(expr)
    match expr:
        case Literal(value=int(number)):
            return number
        case Literal(value=float(number)):
            return int(number)
        case Name(symbol=symbol):
            return names[symbol.name]
        case Cast(operand=operand):
            return value(operand, names)
        case Unary(op="-", operand=operand):
            return -value(operand, names)
        case Conditional(condition=condition, then=then, other=other):
            return value(then if value(condition, names) else other, names)
        case Binary(op="&&", left=left, right=right):
            return int(bool(value(left, names)) and bool(value(right, names)))
        case Binary(op="||", left=left, right=right):
            return int(bool(value(left, names)) or bool(value(right, names)))
        case Binary(op=op, left=left, right=right):
            a, b = value(left, names), value(right, names)
            return int(_OPERATIONS[op](a, b))
        case _:
            raise AssertionError(f"no value for {expr}")


def _divide(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
    "%": lambda a, b: a - b * _divide(a, b),
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}
