"""The launches that a function with kernels makes, in order: its loops are walked through with the numbers given.

    for (int k = 0; k < n - 1; k++) {      k = 0: the first kernel, the second; k = 1: the first, …
        for (int i = k + 1; …              the first kernel
        for (int i = k + 1; …              the second
    }

Invariant: what is walked past changes nothing that a kernel reads. Host code that may do more than count is refused,
with its line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice, takewhile
from typing import Final

from warpsmith.flows.journey.reasons import UnableError
from warpsmith.offload.plan import Fragment
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Conditional,
    DeclStmt,
    Empty,
    Expr,
    ExprStmt,
    For,
    Function,
    If,
    Literal,
    Name,
    Node,
    Pragma,
    Return,
    Stmt,
    Unary,
)
from warpsmith.tree.program import Kernel
from warpsmith.tree.types import Scalar, Symbol, Type
from warpsmith.tree.walk import peel, walk

__all__ = ["MOST_LAUNCHES", "Values", "find_launches", "whole_value"]

MOST_LAUNCHES: Final = 2_000
"""More are not followed: each of them runs on every machine."""
_MOST_STATEMENTS: Final = 200_000
Values = Mapping[Symbol, int]


class _ReturnedError(Exception):
    """The function is left."""


def find_launches(function: Function, fragments: Sequence[Fragment], values: Values) -> list[tuple[Kernel, Values]]:
    """Return every launch of a call of `function`: the kernel, and what the whole numbers in it are worth then;
    `values`: what its parameters are. Raises UnableError where host code does more than launch them."""
    walker = _Walker(fragments, dict(values))
    found: list[tuple[Kernel, Values]] = []
    try:
        for one in islice(walker.statement(function.body), MOST_LAUNCHES + 1):
            found.append(one)
    except _ReturnedError:
        pass  # what was launched before is all
    if len(found) > MOST_LAUNCHES:
        raise UnableError(f"it launches kernels more than {MOST_LAUNCHES:,} times: give smaller sizes")
    return found


class _Walker:
    """Where the walk is: `values` of whole numbers, those that are known."""

    def __init__(self, fragments: Sequence[Fragment], values: dict[Symbol, int]) -> None:
        self.values = values
        self.first = {id(one.statements[0]): one.kernel for one in fragments}
        self.inside = {id(stmt) for one in fragments for stmt in one.statements}
        self.left = _MOST_STATEMENTS

    def statement(self, stmt: Stmt) -> Iterator[tuple[Kernel, Values]]:
        """Yield the launches of a statement."""
        self.left -= 1
        if self.left < 0:
            raise _refuse(stmt, "the host goes through this too often to be followed: give smaller sizes")
        if id(stmt) in self.first:
            yield self.first[id(stmt)], dict(self.values)
            return
        match stmt:
            case _ if id(stmt) in self.inside:
                return
            case Block(statements=statements):
                for one in statements:
                    yield from self.statement(one)
            case For():
                yield from self._loop(stmt)
            case If(condition=condition, then=then, other=other):
                taken = then if self._known(condition) else other
                if taken is not None:
                    yield from self.statement(taken)
            case Return(value=value):
                self._check_value(stmt, value)
                raise _ReturnedError
            case _:
                self._simple(stmt)

    def _simple(self, stmt: Stmt) -> None:
        """Walk past a statement that launches nothing."""
        match stmt:
            case DeclStmt(declarations=declarations):
                for one in declarations:
                    if one.init is not None:
                        self._check_value(stmt, one.init)
                        self._assign(one.symbol, one.init)
            case ExprStmt(expr=Assign(op="=", target=Name(symbol=symbol), value=value)):
                self._check_value(stmt, value)
                self._assign(symbol, value)
            case Empty() | Pragma():
                pass
            case _:
                raise _refuse(stmt, "this runs on the host, between kernels")

    def _loop(self, loop: For) -> Iterator[tuple[Kernel, Values]]:
        begin, bound = self._known(loop.lower), self._known(loop.bound)
        holds = _COMPARED[loop.relation]
        for value in takewhile(lambda value: holds(value, bound), count(begin, loop.step)):
            self.values[loop.variable] = value
            yield from self.statement(loop.body)
        self.values.pop(loop.variable, None)

    def _known(self, expr: Expr) -> int:
        value = whole_value(expr, self.values)
        if value is None:
            raise _refuse(expr, "what this is worth hangs on more than whole numbers that are given")
        return value

    def _assign(self, symbol: Symbol, value: Expr) -> None:
        known = whole_value(value, self.values)
        self.values.pop(symbol, None)
        if known is not None and _is_whole(symbol.type) and _fits(symbol.type, known):
            self.values[symbol] = known

    @staticmethod
    def _check_value(stmt: Stmt, value: Expr | None) -> None:
        """Refuse a value that is more than read: only variables of the function's own are written here."""
        for part in walk(value) if value is not None else ():
            if isinstance(part, Call | Assign) or (isinstance(part, Unary) and part.op in _STEPS):
                raise _refuse(stmt, "this runs on the host, between kernels")


_STEPS: Final = ("++x", "--x", "x++", "x--")


def _refuse(node: Node, why: str) -> UnableError:
    return UnableError(f"{node.span}: {why}")


def _divide(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_COMPARED: Final = {
    "<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__, "!=": int.__ne__, "==": int.__eq__,
}  # fmt: skip
_COMPUTED: Final = {"+": int.__add__, "-": int.__sub__, "*": int.__mul__}


def whole_value(expr: Expr, values: Values) -> int | None:
    """Return what an expression of whole numbers is worth; None where it is none, or leaves its type or 32 bits."""
    value = _value(expr, values)
    return value if value is not None and _fits(peel(expr).type, value) else None


def _is_whole(type: Type) -> bool:
    return isinstance(type, Scalar) and type.kind in ("signed", "unsigned")


def _fits(type: Type, value: int) -> bool:
    if not isinstance(type, Scalar) or not -(1 << 31) <= value < 1 << 31:
        return False
    least, most = (0, 1 << type.bits) if type.kind == "unsigned" else (-(1 << type.bits - 1), 1 << type.bits - 1)
    return type.kind == "bool" or least <= value < most


def _value(expr: Expr, values: Values) -> int | None:
    match peel(expr):
        case Literal(value=int() as value):
            return value
        case Name(symbol=symbol):
            return values.get(symbol)
        case Cast(operand=operand, type=Scalar(kind="signed" | "unsigned")) | Unary(op="+", operand=operand):
            return whole_value(operand, values)
        case Unary(op="-", operand=operand):
            inner = whole_value(operand, values)
            return None if inner is None else -inner
        case Binary(op=op, left=left, right=right):
            return _combine(op, whole_value(left, values), whole_value(right, values))
        case Conditional(condition=condition, then=then, other=other):
            taken = whole_value(condition, values)
            return None if taken is None else whole_value(then if taken else other, values)
        case _:
            return None


def _combine(op: str, left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return None
    if op in _COMPARED:
        return int(_COMPARED[op](left, right))
    if op in _COMPUTED:
        return _COMPUTED[op](left, right)
    if op in ("/", "%") and right != 0:
        whole = _divide(left, right)
        return whole if op == "/" else left - whole * right
    return {"&&": int(bool(left and right)), "||": int(bool(left or right))}.get(op)
