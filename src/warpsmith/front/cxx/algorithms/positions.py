"""Iterators and pointers that algorithms are given, as a place in an array.

    v.begin(), v.end()         v.data() at 0, at v.size()
    v.begin() + k, p + n       v.data() at k, p at n
    &a[k], a, w.data()         a at k, a at 0, w.data() at 0
    std::back_inserter(v)      None: no place that stands already

Invariant: a position is found only where evaluating it has no side effect, and what it starts from is a container's
memory, an array, or a pointer in a variable that nothing else can change.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.front.c.builders import ExpressionBuilder
from warpsmith.front.c.types_of import is_std_array
from warpsmith.front.clang import kinds
from warpsmith.front.cxx.iterators import ITERATOR, strip_conversion
from warpsmith.front.cxx.objects import again, before, behind, dereference, is_lvalue, is_pure, member_of
from warpsmith.tree.containers import DATA, SIZE, is_held_by_container
from warpsmith.tree.nodes import Binary, Cast, Expr, Index, Literal, Member, Name, Node, SizeOf, Unary
from warpsmith.tree.types import INT, LONG, SIZE_T, Array, Pointer, Record, Scalar, Symbol, Type, is_integer
from warpsmith.tree.walk import peel, same, walk

__all__ = ["Position", "Positions", "Range"]

_BEGINS: Final = ("begin", "cbegin", "data")
_ENDS: Final = ("end", "cend")


class Position(Struct, frozen=True):
    """Element `offset` of an array (None: the first one); `data` is the array, or where it starts."""

    data: Expr
    element: Type
    offset: Expr | None = None

    def at(self, counter: Expr, start: Expr | None, place: Span) -> Index:
        """Return the element as far behind this one as `counter` is from `start`."""
        index = counter
        if self.offset is not None and not (start is not None and same(self.offset, start)):
            index = Binary(span=place, type=LONG, op="+", left=index, right=_as_long(self.offset, place))
            if start is not None:
                index = Binary(span=place, type=LONG, op="-", left=index, right=_as_long(start, place))
        elif self.offset is None and start is not None:
            index = Binary(span=place, type=LONG, op="-", left=index, right=_as_long(start, place))
        return Index(span=place, type=self.element, base=again(self.data), index=index)


class Range(Struct, frozen=True):
    """The elements from `first` on, up to the one at `upper`, which is not among them."""

    first: Position
    upper: Expr

    def counter_type(self) -> Scalar:
        """Return the type that counts the elements: that of a container's size where all of it is meant."""
        whole = self.first.offset is None and isinstance(peel(self.upper), Member) and self.upper.type == SIZE_T
        return SIZE_T if whole else LONG

    def bounds(self, place: Span) -> tuple[Expr, Expr]:
        """Return the first and the last value but one of the counter."""
        zero = Literal(span=place, type=INT, text="0", value=0)
        if self.counter_type() == SIZE_T:
            return zero, again(self.upper)
        offset = self.first.offset
        return zero if offset is None else _as_long(offset, place), _as_long(self.upper, place)


class Positions:
    """Finds the positions that the rows of one function name."""

    def __init__(self, expressions: ExpressionBuilder) -> None:
        self.expressions = expressions
        self.context = expressions.context
        self.table = expressions.table

    def between(self, first: int, last: int) -> Range | None:
        """Return the elements between two positions of one array."""
        start, end = self.find(first), self.find(last)
        if start is None or end is None or not same(start.data, end.data) or end.offset is None:
            return None
        return Range(start, end.offset)

    def counted(self, first: int, count: int) -> Range | None:
        """Return as many elements as a row says."""
        start, number = self.find(first), self._offset(count)
        if start is None or number is None:
            return None
        return Range(start, number if start.offset is None else _sum("+", start.offset, number))

    def find(self, row: int) -> Position | None:
        """Return the position that a row names; None for any other."""
        row = strip_conversion(self.context, row)
        callee = self.table.aux[row] if self.table.kind[row] == kinds.CALL else -1
        if callee >= 0 and self.context.is_library(callee):
            return self._call(row, callee)
        built = self.expressions.try_expression(row)
        return None if built is None else self._pointer(built)

    def _call(self, row: int, callee: int) -> Position | None:
        name, full = self.context.dump.declared[callee][1], self.context.detail(callee)[0]
        given, arguments = self.expressions.cxx.parts_of(row, callee)
        if full.startswith(ITERATOR) and name in ("operator+", "operator-") and len(arguments) == 1:
            start = self.find(given) if given is not None and given >= 0 else None
            return None if start is None else self._moved(start, name[-1], self._offset(arguments[0]))
        if full in ("std::begin", "std::end", "std::cbegin", "std::cend", "std::data") and len(arguments) == 1:
            given, arguments = arguments[0], []
        if given is None or given < 0 or arguments or name not in (*_BEGINS, *_ENDS):
            return None
        value = self.expressions.try_expression(given)
        if isinstance(value, Name) and isinstance(value.type, Pointer) and self.stays(value.symbol):
            value = dereference(value, before(value.span), intact=False)
        if value is None or not is_lvalue(value) or not is_pure(value):
            return None
        return self._container(value, end=name in _ENDS)

    def _container(self, value: Expr, *, end: bool) -> Position | None:
        """Return the first element of a std::vector, a std::array or an array, or the place behind its last one."""
        type, place = value.type, behind(value.span)
        if isinstance(type, Array):
            if type.count is None or not (is_std_array(type) or isinstance(peel(value), Name)):
                return None
            count = Literal(span=place, type=INT, text=str(type.count), value=type.count)
            return Position(value, type.of, count if end else None)
        if not isinstance(type, Record) or not type.tag.startswith("std::vector<"):
            return None
        data, size = (member_of(value, field, place, intact=False) for field in (DATA, SIZE))
        if data is None or size is None or not isinstance(data.type, Pointer):
            return None
        return Position(data, data.type.to, size if end else None)

    def _pointer(self, value: Expr) -> Position | None:
        inner = peel(value)
        if isinstance(inner, Binary) and inner.op in ("+", "-") and isinstance(inner.type, Pointer | Array):
            start = self._pointer(inner.left)
            return None if start is None else self._moved(start, inner.op, self._checked(inner.right))
        if isinstance(inner, Unary) and inner.op == "&" and isinstance(peel(inner.operand), Index):
            element = peel(inner.operand)
            assert isinstance(element, Index)
            start = self._pointer(element.base)
            return None if start is None else self._moved(start, "+", self._checked(element.index))
        if isinstance(inner, Member) and inner.field == DATA and is_pure(inner) and isinstance(inner.type, Pointer):
            return Position(inner, inner.type.to)
        if not isinstance(inner, Name):
            return None
        type, symbol = inner.type, inner.symbol
        if isinstance(type, Array):
            return Position(inner, type.of)
        pointer = isinstance(type, Pointer) and not type.reference and self.stays(symbol)
        return Position(inner, type.to) if isinstance(type, Pointer) and pointer else None

    def stays(self, symbol: Symbol) -> bool:
        """Whether nothing but an assignment in the function can change a variable."""
        return symbol.storage in ("local", "parameter") and symbol.key not in self.expressions.escaped

    def moved(self, start: Position, by: int, place: Span) -> Position:
        """Return the position `by` elements behind another."""
        number = Literal(span=place, type=INT, text=str(by), value=by)
        return Position(start.data, start.element, number if start.offset is None else _sum("+", start.offset, number))

    def _moved(self, start: Position, op: str, by: Expr | None) -> Position | None:
        if by is None or (start.offset is None and op == "-"):
            return None
        offset = by if start.offset is None else _sum(op, start.offset, by)
        return Position(start.data, start.element, offset)

    def _offset(self, row: int) -> Expr | None:
        built = self.expressions.try_expression(row)
        return None if built is None else self._checked(built)

    def _checked(self, value: Expr) -> Expr | None:
        """Return a number of elements, where it is the same one all through the loop."""
        if not isinstance(value.type, Scalar) or not is_integer(value.type) or not is_pure(value):
            return None
        return value if all(self._is_kept(part) for part in walk(value)) else None

    def _is_kept(self, part: Node) -> bool:
        """Whether what a node reads is in a variable that no store reaches, or is the size of a container."""
        match part:
            case Member():
                return is_held_by_container(part)
            case Index() | SizeOf():
                return False
            case Unary():
                return part.op != "*" or isinstance(part.type, Record)  # a reference to a container
            case Name(symbol=symbol, type=Scalar()):
                return self.stays(symbol)
            case _:
                return True


def _sum(op: str, left: Expr, right: Expr) -> Expr:
    place = behind(right.span)
    return Binary(span=place, type=LONG, op=op, left=_as_long(left, place), right=_as_long(right, place))


def _as_long(value: Expr, place: Span) -> Expr:
    value = again(value)
    if value.type == LONG or isinstance(peel(value), Literal):
        return value
    return Cast(span=place, type=LONG, operand=value)
