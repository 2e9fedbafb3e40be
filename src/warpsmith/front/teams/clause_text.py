"""Integer expressions in the clauses of pragmas, as trees: `num_teams((n + 255) / 256)`.

clang reads no OpenMP here, so that a clause is text; macros in it are replaced already. What is no arithmetic on
integers that are known by name is not read.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from warpsmith.base.source import Span
from warpsmith.tree.nodes import Binary, Expr, Literal, Name, Unary
from warpsmith.tree.types import INT, LONG, Scalar, Symbol, common_type, integer_range, is_integer, promote

__all__ = ["constant_of", "read_expression"]

_OPERATORS: Final = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%", ast.LShift: "<<"}


def read_expression(text: str, place: Span, find: Callable[[str], Symbol | None]) -> Expr | None:
    """Return the expression that `text` is, made for `place`; `find` knows the variables by name. None where it is no
    integer arithmetic, which C and Python write alike."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    return _made(tree, place, find)


def _made(node: ast.expr, place: Span, find: Callable[[str], Symbol | None]) -> Expr | None:
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            size = INT if number <= integer_range(INT)[1] else LONG
            return Literal(span=place, type=size, text=str(number), value=number)
        case ast.Name(id=name):
            symbol = find(name)
            plain = symbol is not None and isinstance(symbol.type, Scalar) and is_integer(symbol.type)
            return Name(span=place, type=symbol.type, symbol=symbol) if symbol is not None and plain else None
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _made(operand, place, find)
            return None if inner is None else Unary(span=place, type=promote(inner.type), op="-", operand=inner)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            one, other = _made(left, place, find), _made(right, place, find)
            if one is None or other is None:
                return None
            shift = isinstance(op, ast.LShift)
            kind = promote(one.type) if shift else common_type(one.type, other.type)
            return Binary(span=place, type=kind, op=_OPERATORS[type(op)], left=one, right=other)
        case _:
            return None


def constant_of(expr: Expr) -> int | None:
    """Return the value of an integer expression that has one for good, as far as its arithmetic fits its type."""
    match expr:
        case Literal(value=int(value)):
            return value
        case Name(symbol=symbol):
            return symbol.value
        case Unary(op="-", operand=operand):
            inner = constant_of(operand)
            return None if inner is None else _fits(-inner, expr)
        case Binary(op=op, left=left, right=right):
            one, other = constant_of(left), constant_of(right)
            return None if one is None or other is None else _combined(op, one, other, expr)
        case _:
            return None


def _combined(op: str, one: int, other: int, expr: Expr) -> int | None:
    if op in ("/", "%"):
        if one < 0 or other <= 0:
            return None
        return one // other if op == "/" else one % other
    if op == "<<":
        return _fits(one << other, expr) if 0 <= other < 64 and one >= 0 else None
    found = {"+": one + other, "-": one - other, "*": one * other}.get(op)
    return None if found is None else _fits(found, expr)


def _fits(value: int, expr: Expr) -> int | None:
    if not isinstance(expr.type, Scalar):
        return None
    low, high = integer_range(expr.type)
    return value if low <= value <= high else None
