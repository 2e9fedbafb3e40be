"""Statements that call an algorithm whose loop hands a value from one element to the next, or tests each element.

    std::inclusive_scan(b, e, o);       { double sum = -0.0; For(…) { sum = sum + v[v_at]; o[v_at] = sum; } }
    std::exclusive_scan(b, e, o, x);    { double sum = x; For(…) { next = v[v_at]; o[v_at] = sum; sum = sum + next; } }
    std::adjacent_difference(b, e, o); { double last = 0; For(…) { next = v[v_at]; o[v_at] = next - last; … } }
    std::replace_if(b, e, f, x);        For(…) { if (f(v[v_at])) v[v_at] = x; }

Invariant: each element is read before anything is stored in its place, as the standard allows it to be its own result.
The value to start from is the one that changes nothing: -0.0 + x is x for every x, and x - 0.0 as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from warpsmith.base.source import Span
from warpsmith.front.c.builders import StatementBuilder
from warpsmith.front.cxx.algorithms.loops import AlgorithmLoops
from warpsmith.front.cxx.algorithms.positions import Position, Range
from warpsmith.front.cxx.objects import again, before, behind
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    DeclStmt,
    Expr,
    ExprStmt,
    If,
    Literal,
    Name,
    Stmt,
    Unary,
    VarDecl,
)
from warpsmith.tree.types import BOOL, INT, Scalar, common_type, is_float
from warpsmith.tree.walk import peel

__all__ = ["RunningAlgorithms"]

_LEAST_BITS: Final = 32


class RunningAlgorithms:
    """Builds such statements of one function."""

    def __init__(self, statements: StatementBuilder, loops: AlgorithmLoops) -> None:
        self.table = statements.table
        self.expressions = statements.expressions
        self.loops = loops
        self._makers: dict[str, Callable[[list[int], Span], Stmt | None]] = {
            "partial_sum": self._inclusive,
            "inclusive_scan": self._inclusive,
            "exclusive_scan": self._exclusive,
            "adjacent_difference": self._difference,
            "replace": lambda rows, span: self._replace(rows, span, by_value=True),
            "replace_if": lambda rows, span: self._replace(rows, span, by_value=False),
        }

    def statement(self, row: int, span: Span) -> Stmt | None:
        """Return the loop, or the block with it, that an expression statement is; None for any other statement."""
        row = self.table.inner(row)
        maker = self._makers.get(self.loops.algorithm(row))
        if maker is None:
            return None
        self.loops.taken.clear()
        return maker(self.loops.arguments(row), span)

    def _places(self, rows: list[int]) -> tuple[Range, Position, Scalar] | None:
        """Return what is read, where the results go, and the type of what is read."""
        over = self.loops.range(rows, counted=False)
        target = self.loops.positions.find(rows[2]) if len(rows) > 2 else None
        if over is None or target is None or not isinstance(target.element, Scalar):
            return None
        type = over.first.element
        return (over, target, _plain(type)) if isinstance(type, Scalar) and not type.volatile else None

    def _inclusive(self, rows: list[int], span: Span) -> Stmt | None:
        found = self._places(rows)
        if found is None or len(rows) != 3:
            return None
        over, target, type = found
        total, place = self._new("sum", type, span), before(span)

        def step(at: Expr) -> Stmt | None:
            element = over.first.at(again(at), over.first.offset, place)
            more = Binary(span=place, type=common_type(type, type), op="+", left=again(total), right=element)
            value = self.loops.library.convert(again(total), target.element, place)
            stored = self.loops.store(target, over, at, value)
            return _block((_set(total, self.loops.library.convert(more, type, place)), stored), place)

        return self.loops.loop(over, span, (_declare(total, _nothing(type, place)),), step, (target,))

    def _exclusive(self, rows: list[int], span: Span) -> Stmt | None:
        found = self._places(rows)
        start = self.expressions.try_expression(rows[3]) if len(rows) in (4, 5) else None
        if found is None or start is None or not isinstance(start.type, Scalar):
            return None
        over, target, element = found
        type, place = _plain(start.type), before(span)
        total, read = self._new("sum", type, span), self._new("next", element, span)

        def step(at: Expr) -> Stmt | None:
            first = _declare(read, over.first.at(again(at), over.first.offset, place))
            value = self.loops.library.convert(again(total), target.element, place)
            more: Expr | None = Binary(
                span=place, type=common_type(type, element), op="+", left=again(total), right=again(read)
            )
            if len(rows) == 5:
                more = self.loops.applied.value(rows[4], (again(total), again(read)), place)
            if more is None or not isinstance(more.type, Scalar):
                return None
            changed = _set(total, self.loops.library.convert(more, type, place))
            return _block((first, self.loops.store(target, over, at, value), changed), place)

        return self.loops.loop(over, span, (_declare(total, again(start)),), step, (target,))

    def _difference(self, rows: list[int], span: Span) -> Stmt | None:
        found = self._places(rows)
        if found is None or len(rows) != 3 or found[2].bits < _LEAST_BITS:
            return None
        over, target, type = found
        last, read, place = self._new("last", type, span), self._new("next", type, span), before(span)

        def step(at: Expr) -> Stmt | None:
            first = _declare(read, over.first.at(again(at), over.first.offset, place))
            less = Binary(span=place, type=common_type(type, type), op="-", left=again(read), right=again(last))
            stored = self.loops.store(target, over, at, self.loops.library.convert(less, target.element, place))
            return _block((first, stored, _set(last, again(read))), place)

        start = Literal(span=place, type=INT, text="0", value=0)
        return self.loops.loop(
            over, span, (_declare(last, self.loops.library.convert(start, type, place)),), step, (target,)
        )

    def _replace(self, rows: list[int], span: Span, *, by_value: bool) -> Stmt | None:
        """A value that is handed over by reference may be an element that is replaced: it has to be the function's."""
        over, place = self.loops.range(rows, counted=False), before(span)
        value = self._own_value(rows[3]) if len(rows) == 4 else None
        old = self._own_value(rows[2]) if by_value and len(rows) == 4 else None
        if over is None or value is None or not isinstance(over.first.element, Scalar) or (by_value and old is None):
            return None
        type = over.first.element

        def step(at: Expr) -> Stmt | None:
            element: Expr = over.first.at(again(at), over.first.offset, place)
            if old is not None:
                test: Expr | None = Binary(span=place, type=BOOL, op="==", left=element, right=again(old))
            else:
                test = self.loops.applied.value(rows[2], (element,), place)
            if test is None or not isinstance(test.type, Scalar):
                return None
            stored = self.loops.store(over.first, over, at, self.loops.library.convert(again(value), type, place))
            return If(span=place, condition=test, then=stored, other=None)

        return self.loops.loop(over, span, (), step)

    def _own_value(self, row: int) -> Expr | None:
        """Return a number, or a variable of the function's own that no pointer leads to."""
        value = self.expressions.try_expression(row)
        inner = peel(value) if value is not None else None
        digits = peel(inner.operand) if isinstance(inner, Unary) and inner.op == "-" else inner
        if isinstance(digits, Literal) and isinstance(digits.type, Scalar):
            return value
        own = isinstance(inner, Name) and isinstance(inner.type, Scalar)
        return value if own and isinstance(inner, Name) and self.loops.positions.stays(inner.symbol) else None

    def _new(self, word: str, type: Scalar, span: Span) -> Name:
        symbol = self.loops.variable(word, type, span)
        self.loops.taken.add(symbol.name)
        return Name(span=before(span), type=type, symbol=symbol)


def _nothing(type: Scalar, place: Span) -> Expr:
    """Return the number that changes none to which it is added."""
    if not is_float(type):
        return Literal(span=place, type=INT, text="0", value=0)
    zero = Literal(span=place, type=type, text="0.0f" if type.bits == _LEAST_BITS else "0.0", value=0.0)
    return Unary(span=place, type=type, op="-", operand=zero)


def _block(statements: tuple[Stmt, ...], place: Span) -> Stmt:
    return Block(span=behind(place), statements=statements)


def _declare(name: Name, value: Expr) -> Stmt:
    return DeclStmt(span=name.span, declarations=(VarDecl(span=name.span, symbol=name.symbol, init=value),))


def _set(name: Name, value: Expr) -> Stmt:
    return ExprStmt(
        span=name.span, expr=Assign(span=name.span, type=name.type, op="=", target=again(name), value=value)
    )


def _plain(type: Scalar) -> Scalar:
    return Scalar(type.name, type.bits, type.kind, spelling=type.spelling)
