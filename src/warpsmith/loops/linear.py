"""Integer expressions as linear forms, and what follows from linear inequalities.

    n - 1 + 2 * (i + 3)      n + 2 i + 5

Invariant: where `Linear.of` answers, the value of the C expression is the value of the form: unsigned arithmetic, which
may wrap, is not read, and signed overflow has no value. `follows` answers yes only where the goal holds at every
rational point that the facts allow (Fourier-Motzkin elimination, cut off where it grows).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.tree.nodes import Binary, Cast, Expr, Literal, Name, Unary
from warpsmith.tree.types import INT, LONG_LONG, Scalar, Symbol, Type, common_type, is_integer
from warpsmith.tree.walk import peel

__all__ = ["Linear", "follows", "number", "use"]

_MOST = 120


class Linear(Struct, frozen=True):
    """Σ coefficient * variable + constant; `terms` are sorted by key, without zeros."""

    terms: tuple[tuple[Symbol, int], ...] = ()
    constant: int = 0

    @classmethod
    def of(cls, expr: Expr) -> Linear | None:
        """Return the form of an integer expression, or None where it is not linear or may wrap."""
        expr = peel(expr)
        match expr:
            case Literal(value=int(value)):
                return cls((), value)
            case Name(symbol=symbol):
                if symbol.value is not None:
                    return cls((), symbol.value)
                type = symbol.type
                plain = isinstance(type, Scalar) and is_integer(type) and not type.volatile
                return cls(((symbol, 1),)) if plain else None
            case Cast(type=type, operand=operand):
                return cls.of(operand) if _widens(operand.type, type) else None
            case Unary(op="-" | "+" as op, operand=operand, type=type) if _is_signed(type):
                inner = cls._operand(operand, type)
                return None if inner is None else inner.scale(-1 if op == "-" else 1)
            case Binary(op="+" | "-" | "*", type=type) if _is_signed(type):
                return cls._of_binary(expr, type)
            case _:
                return None

    @classmethod
    def _operand(cls, operand: Expr, type: Type) -> Linear | None:
        """Read an operand that is converted to `type`, which is signed: nothing changes where that is as wide."""
        return cls.of(operand) if _widens(operand.type, type) else None

    @classmethod
    def _of_binary(cls, expr: Binary, type: Type) -> Linear | None:
        left, right = cls._operand(expr.left, type), cls._operand(expr.right, type)
        if left is None or right is None:
            return None
        if expr.op == "+":
            return left.plus(right)
        if expr.op == "-":
            return left.minus(right)
        if not left.terms:
            return right.scale(left.constant)
        return left.scale(right.constant) if not right.terms else None

    @classmethod
    def make(cls, terms: Mapping[Symbol, int], constant: int) -> Linear:
        """Return the form with these coefficients."""
        kept = sorted(((s, c) for s, c in terms.items() if c), key=lambda term: term[0].key)
        return cls(tuple(kept), constant)

    @property
    def symbols(self) -> frozenset[Symbol]:
        """The variables of the form."""
        return frozenset(symbol for symbol, _ in self.terms)

    @property
    def number(self) -> int | None:
        """The value of a form without variables."""
        return None if self.terms else self.constant

    def coefficient(self, symbol: Symbol) -> int:
        """Return the coefficient of a variable."""
        return dict(self.terms).get(symbol, 0)

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        """Return self + factor * other."""
        terms = dict(self.terms)
        for symbol, c in other.terms:
            terms[symbol] = terms.get(symbol, 0) + factor * c
        return Linear.make(terms, self.constant + factor * other.constant)

    def minus(self, other: Linear) -> Linear:
        """Return self - other."""
        return self.plus(other, -1)

    def scale(self, factor: int) -> Linear:
        """Return factor * self."""
        return Linear.make({s: factor * c for s, c in self.terms}, factor * self.constant)

    def shift(self, by: int) -> Linear:
        """Return self + by."""
        return Linear(self.terms, self.constant + by)

    def with_value(self, symbol: Symbol, value: Linear) -> Linear:
        """Return the form with `value` in place of a variable."""
        factor = self.coefficient(symbol)
        return self.plus(Linear(((symbol, 1),)), -factor).plus(value, factor)

    def expr(self, span: Span) -> Expr:
        """Return the form as a C expression: in int where all of it is int, else in long long."""
        parts = sorted(self.terms, key=lambda term: term[1] < 0)
        result: Expr | None = None
        for symbol, factor in parts:
            piece: Expr = use(symbol, span)
            if abs(factor) != 1:
                piece = _join("*", number(abs(factor), span), piece)
            if result is None:
                result = piece if factor > 0 else Unary(span=span, type=_arithmetic(piece.type), op="-", operand=piece)
            else:
                result = _join("+" if factor > 0 else "-", result, piece)
        if result is None:
            return number(self.constant, span)
        if self.constant == 0:
            return result
        return _join("+" if self.constant > 0 else "-", result, number(abs(self.constant), span))


def number(value: int, span: Span) -> Expr:
    """Return the literal `value`; a negative one is a unary minus, as in C."""
    if value < 0:
        inner = number(-value, span)
        return Unary(span=span, type=inner.type, op="-", operand=inner)
    type = INT if value < 2**31 else LONG_LONG
    return Literal(span=span, type=type, text=str(value), value=value)


def use(symbol: Symbol, span: Span) -> Expr:
    """Return a use of `symbol`."""
    return Name(span=span, type=symbol.type, symbol=symbol)


def _join(op: str, left: Expr, right: Expr) -> Expr:
    return Binary(span=left.span, type=common_type(left.type, right.type), op=op, left=left, right=right)


def _arithmetic(type: Type) -> Type:
    return common_type(type, INT)


def _is_signed(type: Type) -> bool:
    return isinstance(type, Scalar) and type.kind == "signed" and type.bits >= INT.bits


def _widens(own: Type, target: Type) -> bool:
    """Whether every value of `own` is one of `target`."""
    if not (isinstance(own, Scalar) and isinstance(target, Scalar) and is_integer(own) and is_integer(target)):
        return False
    if own.kind == target.kind:
        return target.bits >= own.bits
    return target.kind == "signed" and target.bits > own.bits


def follows(goal: Linear, facts: Iterable[Linear]) -> bool:
    """Whether goal >= 0 wherever every one of `facts` is >= 0 (over integers; no means that it was not shown)."""
    system = {fact for fact in facts if fact.terms} | {goal.scale(-1).shift(-1)}
    while True:
        if any(not row.terms and row.constant < 0 for row in system):
            return True
        system = {row for row in system if row.terms}
        if not system:
            return False
        symbol = min(
            sorted({s for row in system for s in row.symbols}, key=lambda s: s.key), key=lambda s: _growth(system, s)
        )
        system = _eliminate(system, symbol)
        if len(system) > _MOST:
            return False


def _growth(system: set[Linear], symbol: Symbol) -> int:
    up = sum(row.coefficient(symbol) > 0 for row in system)
    return up * sum(row.coefficient(symbol) < 0 for row in system)


def _eliminate(system: set[Linear], symbol: Symbol) -> set[Linear]:
    """Eliminate a variable: every lower bound meets every upper bound."""
    kept = {row for row in system if row.coefficient(symbol) == 0}
    lower = [row for row in system if row.coefficient(symbol) > 0]
    upper = [row for row in system if row.coefficient(symbol) < 0]
    for low in lower:
        for high in upper:
            kept.add(low.scale(-high.coefficient(symbol)).plus(high, low.coefficient(symbol)))
    return kept
