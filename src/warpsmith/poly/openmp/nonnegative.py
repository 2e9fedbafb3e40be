"""Integers that are never negative, by where their values come from.

    for (int k = 0; k < n; k++)
        if (d[k] < least) { least = d[k]; at = k; }      at: only ever a counter from 0 up
    count[at] += 1;

Invariant (by induction over the run): a variable holds what one of its writes gave it. Where each write gives no
negative number as long as no variable held one before, none ever does. What was never written holds nothing that may be
read, and what overflows has no meaning either (C17 6.3.2.1, 6.5).
Limits: variables whose address is taken, parameters, elements of arrays.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    DeclStmt,
    Expr,
    For,
    Function,
    Index,
    Literal,
    Member,
    Name,
    Node,
    Pragma,
    Return,
    Unary,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import INT, Scalar, Symbol, Type, common_type, integer_range, is_integer
from warpsmith.tree.walk import names, peel, walk

__all__ = ["is_never_negative"]

_KEEPS: Final = frozenset({"+", "*", "/", "%", "|", "^"})
_UP: Final = ("++x", "x++")
_STEPS: Final = frozenset({"&", "--x", "x--", *_UP})
_TRUTH: Final = frozenset({"<", "<=", ">", ">=", "==", "!=", "&&", "||"})


def is_never_negative(program: Program, function: Function, expr: Expr) -> bool:
    """Whether an integer expression of `function` is 0 or more wherever it is evaluated."""
    return _Origins(program, set()).is_safe(function, expr)


class _Origins(Struct, frozen=True):
    """`assumed`: the variables and functions that are being looked at, or were found to be safe."""

    program: Program
    assumed: set[Symbol]

    def is_safe(self, function: Function, expr: Expr) -> bool:
        expr = peel(expr)
        if isinstance(expr.type, Scalar) and expr.type.kind in ("unsigned", "bool"):
            return True
        match expr:
            case Literal():
                return isinstance(expr.value, int) and expr.value >= 0
            case Name():
                return self.is_safe_variable(function, expr.symbol)
            case Cast():
                return self.fits(function, expr.operand, expr.type)
            case Conditional():
                return self.fits(function, expr.then, expr.type) and self.fits(function, expr.other, expr.type)
            case Binary():
                return self.is_safe_result(function, expr.op, expr.left, expr.right)
            case Assign():
                return self.is_safe_assignment(function, expr)
            case Unary():
                return expr.op == "!" or (expr.op in ("+", *_UP) and self.is_safe(function, expr.operand))
            case Call():
                return self.is_safe_call(expr)
            case _:
                return False

    def fits(self, function: Function, value: Expr, type: Type) -> bool:
        """Whether a value that is converted to `type` is 0 or more afterwards."""
        value = peel(value)
        source = value.type
        if isinstance(value, Literal) and isinstance(value.value, int) and isinstance(type, Scalar):
            return is_integer(type) and 0 <= value.value <= integer_range(type)[1]
        if not isinstance(source, Scalar) or not isinstance(type, Scalar) or not is_integer(source):
            return False
        if type.kind in ("unsigned", "bool"):
            return True
        room = type.bits - (source.kind == "unsigned")
        return is_integer(type) and source.bits <= room and self.is_safe(function, value)

    def is_safe_result(self, function: Function, op: str, left: Expr, right: Expr) -> bool:
        if op in _TRUTH:
            return True
        if op == ",":
            return self.is_safe(function, right)
        if op == ">>":
            return self.is_safe(function, left)
        type = common_type(left.type, right.type)
        if op == "&":  # what is assumed for a side that fails must not serve the other one
            return any(_Origins(self.program, set(self.assumed)).fits(function, side, type) for side in (left, right))
        return op in _KEEPS and all(self.fits(function, side, type) for side in (left, right))

    def is_safe_assignment(self, function: Function, stmt: Assign) -> bool:
        """Whether an assignment gives 0 or more, provided that the target held that."""
        target = stmt.target.type
        if stmt.op == "=":
            return self.fits(function, stmt.value, target)
        wide = common_type(target, stmt.value.type)  # what is computed in it may be cut to a negative number
        if not isinstance(wide, Scalar) or not isinstance(target, Scalar):
            return False
        alike = (wide.kind, wide.bits) == (target.kind, target.bits)
        return alike and self.is_safe_result(function, stmt.op[:-1], stmt.target, stmt.value)

    def is_safe_call(self, call: Call) -> bool:
        """Whether a function of the program returns 0 or more."""
        called = direct_call(call)
        found = [f for _, f in self.program.functions() if f.symbol == called]
        if called is None or len(found) != 1 or not isinstance(call.type, Scalar):
            return False
        if called in self.assumed:
            return True
        self.assumed.add(called)
        (function,) = found
        if _is_opaque(function):
            return False
        given = [part.value for part in walk(function.body) if isinstance(part, Return)]
        return bool(given) and all(v is not None and self.fits(function, v, call.type) for v in given)

    def is_safe_variable(self, function: Function, symbol: Symbol) -> bool:
        """Whether every write of a variable of `function` gives it 0 or more."""
        if symbol.value is not None:
            return symbol.value >= 0
        if symbol in self.assumed:
            return True
        if symbol.storage != "local" or not isinstance(symbol.type, Scalar) or _is_opaque(function):
            return False
        self.assumed.add(symbol)
        return all(self.is_safe_write(function, part, symbol) for part in walk(function.body))

    def is_safe_write(self, function: Function, part: Node, symbol: Symbol) -> bool:
        """Whether a node, inner nodes aside, leaves `symbol` at 0 or more, or alone."""
        match part:
            case DeclStmt():
                given = [d.init for d in part.declarations if d.symbol == symbol and d.init is not None]
                return all(self.fits(function, value, symbol.type) for value in given)
            case For() if part.variable == symbol:
                return part.step > 0 and self.fits(function, part.lower, symbol.type)
            case Assign() if _may_be(part.target, symbol):
                return isinstance(peel(part.target), Name) and self.is_safe_assignment(function, part)
            case Unary() if part.op in _STEPS and _may_be(part.operand, symbol):
                return part.op in _UP and isinstance(peel(part.operand), Name) and _is_wide(symbol.type)
            case Pragma() if part.directive is not None:
                return symbol.name not in part.directive.list_variables("reduction", "linear", "in_reduction")
            case _:
                return symbol not in getattr(part, "writes", ())


def _may_be(place: Expr, symbol: Symbol) -> bool:
    """Whether what is written, or has its address taken, may be a variable itself, and no element or member."""
    place = peel(place)
    if isinstance(place, Index | Member) or (isinstance(place, Unary) and place.op == "*"):
        return False
    return any(n.symbol == symbol for n in names(place))


def _is_wide(type: Type) -> bool:
    """Whether numbers of a type are counted up in that type, where they may not overflow."""
    return isinstance(type, Scalar) and type.bits >= INT.bits


def _is_opaque(function: Function) -> bool:
    """Whether text of a function is not modelled, in which a variable may be known by its address."""
    return any(isinstance(part, Verbatim | VerbatimExpr) for part in walk(function.body))
