"""Expressions that a person asks for: numbers, variables, elements of arrays, operators of C.

i == 7 && x > out[i - 1]        threadIdx.x % 32 == 5        lane < 4 || !(x & 1)
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

__all__ = ["Number", "Scope", "UnknownNameError", "evaluate", "names_in", "parse"]

Number = int | float
_MARK: Final = "v_"
_IDENTIFIER: Final = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


class UnknownNameError(Exception):
    """A name holds nothing here (yet), or an element is not there."""


class Scope(Protocol):
    """What names mean in one lane; both raise UnknownNameError."""

    def variable(self, name: str) -> Number:
        """Return what a variable holds, `x` or `threadIdx.x`."""
        ...

    def element(self, array: str, at: int) -> Number:
        """Return an element of an array."""
        ...


def parse(text: str) -> ast.expr:
    """Return an expression; raises ValueError where it is none."""
    # names of C may be words of Python: `in`
    marked = _IDENTIFIER.sub(rf"{_MARK}\g<0>", text)
    python = re.sub(r"!(?!=)", " not ", marked.replace("&&", " and ").replace("||", " or ")).strip()
    try:
        found = ast.parse(python, mode="eval").body
        _check(found)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"{text!r} is no expression") from error
    return found


def _check(node: ast.expr) -> None:
    """Raise ValueError where an expression has anything that we do not compute."""
    match node:
        case ast.Constant(value=int() | float()) | ast.Name() | ast.Attribute(value=ast.Name()):
            return
        case ast.Subscript(value=ast.Name(), slice=index):
            parts = [index]
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _ONE:
            parts = [operand]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _TWO:
            parts = [left, right]
        case ast.BoolOp(values=values):
            parts = values
        case ast.Compare(left=left, ops=ops, comparators=[right]) if type(ops[0]) in _COMPARED:
            parts = [left, right]
        case _:
            raise ValueError(f"{_words(node)!r} is no expression of numbers, variables and elements")
    for part in parts:
        _check(part)


def names_in(node: ast.expr) -> Iterator[tuple[str, bool]]:
    """Yield each name, and whether it is used as an array."""
    arrays = {id(one.value) for one in ast.walk(node) if isinstance(one, ast.Subscript)}
    members = {id(one.value) for one in ast.walk(node) if isinstance(one, ast.Attribute)}
    for one in ast.walk(node):
        if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name):
            yield f"{_name(one.value)}.{one.attr}", False
        elif isinstance(one, ast.Name) and id(one) not in members:
            yield _name(one), id(one) in arrays


def _name(node: ast.Name) -> str:
    """Return a name as it was written."""
    return node.id.removeprefix(_MARK)


def _words(node: ast.expr) -> str:
    return ast.unparse(node).replace(_MARK, "")


def evaluate(node: ast.expr, scope: Scope) -> Number:
    """Return what an expression is in one lane; raises UnknownNameError, also where it divides by zero."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name():
            return scope.variable(_name(node))
        case ast.Attribute(value=ast.Name() as base, attr=member):
            return scope.variable(f"{_name(base)}.{member}")
        case ast.Subscript(value=ast.Name() as array, slice=index):
            return scope.element(_name(array), int(evaluate(index, scope)))
        case ast.BoolOp(op=op, values=values):
            combine = all if isinstance(op, ast.And) else any
            return int(combine(evaluate(value, scope) for value in values))
        case _:
            return _compute(node, scope)


def _compute(node: ast.expr, scope: Scope) -> Number:
    """Return what an operator gives."""
    try:
        match node:
            case ast.UnaryOp(op=op, operand=operand):
                return _ONE[type(op)](evaluate(operand, scope))
            case ast.BinOp(left=left, op=op, right=right):
                return _TWO[type(op)](evaluate(left, scope), evaluate(right, scope))
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                return int(_COMPARED[type(ops[0])](evaluate(left, scope), evaluate(comparators[0], scope)))
    except (ZeroDivisionError, TypeError, ValueError, OverflowError) as error:
        raise UnknownNameError(f"{_words(node)} has no value") from error
    raise UnknownNameError(_words(node))


def _divide(a: Number, b: Number) -> Number:
    """Divide as C does: integers toward zero."""
    if isinstance(a, float) or isinstance(b, float):
        return a / b
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _remainder(a: int, b: int) -> int:
    return a - int(_divide(a, b)) * b


def _shift(a: int, b: int) -> int:
    if not 0 <= b < 64:
        raise ValueError("a shift by more than a number has bits")
    return a << b


_ONE: Final[dict[type[ast.unaryop], Callable[[Any], Number]]] = {
    ast.Not: lambda a: int(not a), ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert,
}  # fmt: skip
_TWO: Final[dict[type[ast.operator], Callable[[Any, Any], Number]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: _divide, ast.Mod: _remainder,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: _shift,
    ast.RShift: operator.rshift,
}  # fmt: skip
_COMPARED: Final[dict[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip
