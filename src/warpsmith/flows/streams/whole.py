"""Between what whole numbers an expression of a kernel lies, from its text alone.

instance().x    0 … 2^28, more elements no stream has      a variable with one definition: as what it is made of
+ - *           of the ends, where nothing wraps           floats: whole while no sum is beyond 2^24
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    Function,
    InitList,
    Literal,
    Member,
    Name,
    Unary,
    VarDecl,
)
from warpsmith.tree.types import Scalar, Symbol, is_float
from warpsmith.tree.walk import walk

__all__ = ["WholeRange", "whole_of"]

_MOST_ELEMENTS: Final = 1 << 28
_INTS: Final = (1 << 31) - 1
_FLOATS: Final = 1 << 24
_DEEPEST: Final = 20


class WholeRange(Struct, frozen=True):
    """WholeRange numbers from `least` to `most`."""

    least: int
    most: int


_POWERS: Final = WholeRange(1, 1 << 30)


def whole_of(function: Function, expr: Expr, power: Symbol) -> WholeRange | None:
    """Return between what whole numbers an expression of a function lies; None where that is not seen. `power`: a
    parameter that is a power of two, up to 2^30."""
    return _Bounds(function, power).of(expr, 0)


class _Bounds:
    """Bounds of expressions of one function."""

    def __init__(self, function: Function, power: Symbol) -> None:
        self._function, self._power = function, power

    def of(self, expr: Expr, depth: int) -> WholeRange | None:
        """Return the bounds of an expression, as its type holds it."""
        found = self._value(expr, depth) if depth <= _DEEPEST else None
        if found is None or not isinstance(expr.type, Scalar):
            return None
        if is_float(expr.type):
            return WholeRange(-_rounded(-found.least), _rounded(found.most))
        return found if found.least >= (0 if expr.type.kind == "unsigned" else -_INTS) and found.most <= _INTS else None

    def _value(self, expr: Expr, depth: int) -> WholeRange | None:
        match expr:
            case Literal(value=int() | float() as value):
                return WholeRange(int(value), int(value)) if value == int(value) else None
            case Cast(operand=operand):
                return self.of(operand, depth + 1)
            case Unary(op="-", operand=operand):
                inner = self.of(operand, depth + 1)
                return None if inner is None else WholeRange(-inner.most, -inner.least)
            case Conditional(then=then, other=other):
                return _hull(self.of(then, depth + 1), self.of(other, depth + 1))
            case Call(function=Name(symbol=Symbol(name="floor")), arguments=(inner_,)):
                return self.of(inner_, depth + 1)
            case Member(base=InitList() as base, field=field):
                return _of_instance(base, field)
            case Name(symbol=self._power):
                return _POWERS
            case Name(symbol=symbol):
                made = self._definition(symbol)
                return None if made is None else self.of(made, depth + 1)
            case Binary():
                return self._binary(expr, depth)
        return None

    def _binary(self, expr: Binary, depth: int) -> WholeRange | None:
        if expr.op in ("<", ">", "<=", ">=", "==", "!=", "&&", "||"):
            return WholeRange(0, 1)
        left, right = self.of(expr.left, depth + 1), self.of(expr.right, depth + 1)
        if left is None or right is None:
            return None
        match expr.op:
            case "+":
                found = WholeRange(left.least + right.least, left.most + right.most)
            case "-":
                found = WholeRange(left.least - right.most, left.most - right.least)
            case "*":
                ends = [a * b for a in (left.least, left.most) for b in (right.least, right.most)]
                found = WholeRange(min(ends), max(ends))
            case "%" if not is_float(expr.type) and left.least >= 0 and right.least > 0:
                return WholeRange(0, min(left.most, right.most - 1))
            case "/" | ">>" if not is_float(expr.type) and left.least >= 0 and right.least >= (expr.op == "/"):
                return WholeRange(0, left.most)
            case "&" if left.least >= 0 and right.least >= 0:
                return WholeRange(0, min(left.most, right.most))
            case "|" | "^" if left.least >= 0 and right.least >= 0:
                return WholeRange(0, (1 << max(left.most, right.most).bit_length()) - 1)
            case _:
                return None
        most = _FLOATS if is_float(expr.type) else _INTS
        return found if -most <= found.least and found.most <= most else None

    def _definition(self, symbol: Symbol) -> Expr | None:
        """Return what a variable is made of, where it is that and nothing else."""
        made: Expr | None = None
        for node in walk(self._function.body):
            match node:
                case VarDecl(symbol=one, init=init) if one == symbol:
                    made = init
                case Assign(target=Name(symbol=one)) if one == symbol:
                    return None
                case Unary(op="&" | "++x" | "--x" | "x++" | "x--", operand=Name(symbol=one)) if one == symbol:
                    return None
        return made


def _rounded(end: int) -> int:
    """Return what no number up to `end` is rounded beyond in a float."""
    return end if abs(end) <= _FLOATS else 1 << end.bit_length() if end > 0 else end // 2


def _hull(one: WholeRange | None, other: WholeRange | None) -> WholeRange | None:
    if one is None or other is None:
        return None
    return WholeRange(min(one.least, other.least), max(one.most, other.most))


def _of_instance(base: InitList, field: str) -> WholeRange | None:
    """Return the bounds of a component of `instance()`."""
    lanes = {f"s{at}": item for at, item in enumerate(base.items)}
    match lanes.get(field):
        case Call(function=Name(symbol=Symbol(name="get_global_id"))):
            return WholeRange(0, _MOST_ELEMENTS)
        case Literal(value=0):
            return WholeRange(0, 0)
    return None
