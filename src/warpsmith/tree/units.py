"""Allocation units in guards: the calls by which host code asks the port's run time where a pointer's object ends.

    ws_unit_bytes(p)       bytes from p to the end of the unit (heap block, known array) that holds p; 0: not known
    ws_unit_lower(p, size), ws_unit_upper(p, size)
                           the unit's elements of `size` bytes, counted from p: the first one, and the one past the last
    ws_unit_size(p, size)  their bytes
    ws_row_starts(rows, size)
                           where each of the rows begins in the one block that all lie in, in elements from rows[0];
                           null where they do not
    ws_units_apart(p, q)   1 where p's unit is known and q does not point into it, nor one past its end; else 0

Invariant: where `ws_units_apart(p, q)` is 1, no address made from p is one made from q: C's pointers keep to the object
that they were made from (C17 6.5.6 paragraph 8), and one past the end of p's object may lead back into it.
"""

from __future__ import annotations

from typing import Final

from warpsmith.base.source import Span
from warpsmith.tree.nodes import Call, DataEnter, Expr, Name, Node, Update
from warpsmith.tree.types import INT, LONG_LONG, SIZE_T, FunctionType, Pointer, Scalar, Symbol
from warpsmith.tree.walk import walk

__all__ = [
    "UNITS_APART",
    "UNIT_BYTES",
    "asks",
    "asks_units",
    "is_apart",
    "is_row_starts",
    "names_units",
    "row_starts",
    "unit_bytes",
    "unit_lower",
    "unit_size",
    "unit_upper",
    "units_apart",
]

_ANYTHING: Final = Pointer(Scalar("void", 0, "void", const=True))
UNIT_BYTES: Final = Symbol("ws_unit_bytes", "ws_unit_bytes", FunctionType(SIZE_T, (_ANYTHING,)), "function")
UNITS_APART: Final = Symbol("ws_units_apart", "ws_units_apart", FunctionType(INT, (_ANYTHING, _ANYTHING)), "function")

_PLACE: Final = FunctionType(LONG_LONG, (_ANYTHING, SIZE_T))
UNIT_LOWER: Final = Symbol("ws_unit_lower", "ws_unit_lower", _PLACE, "function")
UNIT_UPPER: Final = Symbol("ws_unit_upper", "ws_unit_upper", _PLACE, "function")
UNIT_SIZE: Final = Symbol("ws_unit_size", "ws_unit_size", _PLACE, "function")
_STARTS: Final = Pointer(Scalar("long long", 64, "signed", const=True))
ROW_STARTS: Final = Symbol("ws_row_starts", "ws_row_starts", FunctionType(_STARTS, (_ANYTHING, SIZE_T)), "function")
_ALL: Final = frozenset({UNITS_APART, UNIT_BYTES, UNIT_LOWER, UNIT_UPPER, UNIT_SIZE})


def units_apart(one: Expr, other: Expr, span: Span) -> Call:
    """Return the test that what `one` points into is known, and that `other` does not point there."""
    return Call(span=span, type=INT, function=_name(UNITS_APART, span), arguments=(one, other))


def unit_bytes(pointer: Expr, span: Span) -> Call:
    """Return how many bytes there are from `pointer` to the end of its unit, 0 where that is not known."""
    return Call(span=span, type=SIZE_T, function=_name(UNIT_BYTES, span), arguments=(pointer,))


def unit_lower(pointer: Expr, size: Expr, span: Span) -> Call:
    """Return the first element of the unit, counted from `pointer`: never more than 0."""
    return Call(span=span, type=LONG_LONG, function=_name(UNIT_LOWER, span), arguments=(pointer, size))


def unit_upper(pointer: Expr, size: Expr, span: Span) -> Call:
    """Return the element past the last of the unit, counted from `pointer`: 0 where that is not known."""
    return Call(span=span, type=LONG_LONG, function=_name(UNIT_UPPER, span), arguments=(pointer, size))


def unit_size(pointer: Expr, size: Expr, span: Span) -> Call:
    """Return the bytes of the unit's elements."""
    return Call(span=span, type=LONG_LONG, function=_name(UNIT_SIZE, span), arguments=(pointer, size))


def row_starts(rows: Expr, size: Expr, span: Span) -> Call:
    """Return where rows begin in their block. The answer is the run time's own memory, which lives on."""
    return Call(span=span, type=_STARTS, function=_name(ROW_STARTS, span), arguments=(rows, size))


def is_row_starts(call: Call) -> bool:
    """Whether a call asks where rows begin."""
    return isinstance(call.function, Name) and call.function.symbol == ROW_STARTS


def is_apart(call: Call) -> bool:
    """Whether a call asks whether two pointers lead into different blocks."""
    return isinstance(call.function, Name) and call.function.symbol == UNITS_APART


def asks_units(call: Call) -> bool:
    """Whether a call is one of the questions: it reads no memory of the program, and changes none."""
    return isinstance(call.function, Name) and call.function.symbol in _ALL


def names_units(node: Node) -> bool:
    """Whether any of the questions is asked in `node`."""
    return any(asks(part) for part in walk(node))


def asks(part: Node) -> bool:
    """Whether a node, without those below it, is such a question."""
    if isinstance(part, Update | DataEnter):
        return part.block if isinstance(part, Update) else part.watch
    return isinstance(part, Call) and (asks_units(part) or is_row_starts(part))


def _name(function: Symbol, span: Span) -> Name:
    return Name(span=span, type=function.type, symbol=function)
