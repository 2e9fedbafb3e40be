"""Allocations in guards: the calls by which host code asks the port's run time where a pointer's object ends.

    ws_allocation_bytes(p) bytes from p to the end of the allocation (heap block, known array) that holds p; 0: not
                           known
    ws_allocation_lower(p, size), ws_allocation_upper(p, size)
                           the allocation's elements of `size` bytes, counted from p: the first one, and the one past
                           the last
    ws_allocation_size(p, size)
                           their bytes
    ws_row_starts(rows, size)
                           where each of the rows begins, in elements from ws_row_zero; null where the block of one of
                           them is not known
    ws_row_starts_of(rows, low, high, size)
                           the same of rows low .. high - 1 alone
    ws_row_zero(starts)    the first row that is there
    ws_vector_rows(list, count), ws_vector_sizes(list, count)
                           of vectors that stand one behind the other (C++): the pointers to their elements, as an array
                           of rows, and how many elements each has; the arrays are the run time's own
    ws_rows_distinct(starts)
                           1 where each row lies in a block of its own
    ws_rows_clear(starts, low, high)
                           1 where no two rows have one of their elements low .. high - 1 in common
    ws_rows_apart(starts, q)
                           1 where q points into no row's block, nor one past its end; or, q being the starts of
                           other rows, none of those does
    ws_allocations_apart(p, q)
                           1 where p's allocation is known and q does not point into it, nor one past its end; else 0

A variable that starts as ws_row_zero(starts) leads to all of the rows, in whatever blocks they lie: addresses are
numbers of 64 bits, on the host and on the device alike, and the starts are differences of such numbers.

Invariant: where `ws_allocations_apart(p, q)` is 1, no address made from p is one made from q: C's pointers keep to the
object that they were made from (C17 6.5.6 paragraph 8), and one past the end of p's object may lead back into it.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.tree.nodes import (
    Call,
    CaptureStmt,
    Cast,
    DataEnter,
    DataExit,
    DataRegionBoundary,
    Expr,
    Function,
    Name,
    Node,
    Update,
    VarDecl,
)
from warpsmith.tree.types import INT, LONG_LONG, SIZE_T, FunctionType, Pointer, Scalar, Symbol
from warpsmith.tree.walk import peel, walk

__all__ = [
    "ALLOCATIONS_APART",
    "ALLOCATION_BYTES",
    "allocation_bytes",
    "allocation_lower",
    "allocation_size",
    "allocation_upper",
    "allocations_apart",
    "apart_pair",
    "asks",
    "asks_allocations",
    "asks_rows",
    "blocks_apart",
    "is_apart",
    "is_question",
    "is_vector_question",
    "names_allocations",
    "row_starts",
    "row_tables",
    "row_zero",
    "rows_apart",
    "rows_clear",
    "rows_distinct",
    "vector_rows",
    "vector_sizes",
]

_ANYTHING: Final = Pointer(Scalar("void", 0, "void", const=True))
ALLOCATION_BYTES: Final = Symbol(
    "ws_allocation_bytes", "ws_allocation_bytes", FunctionType(SIZE_T, (_ANYTHING,)), "function"
)
ALLOCATIONS_APART: Final = Symbol(
    "ws_allocations_apart", "ws_allocations_apart", FunctionType(INT, (_ANYTHING, _ANYTHING)), "function"
)

_PLACE: Final = FunctionType(LONG_LONG, (_ANYTHING, SIZE_T))
ALLOCATION_LOWER: Final = Symbol("ws_allocation_lower", "ws_allocation_lower", _PLACE, "function")
ALLOCATION_UPPER: Final = Symbol("ws_allocation_upper", "ws_allocation_upper", _PLACE, "function")
ALLOCATION_SIZE: Final = Symbol("ws_allocation_size", "ws_allocation_size", _PLACE, "function")
_STARTS: Final = Pointer(Scalar("long long", 64, "signed", const=True))
ROW_STARTS: Final = Symbol("ws_row_starts", "ws_row_starts", FunctionType(_STARTS, (_ANYTHING, SIZE_T)), "function")
_SOME: Final = FunctionType(_STARTS, (_ANYTHING, LONG_LONG, LONG_LONG, SIZE_T))
ROW_STARTS_OF: Final = Symbol("ws_row_starts_of", "ws_row_starts_of", _SOME, "function")
ROW_ZERO: Final = Symbol(
    "ws_row_zero", "ws_row_zero", FunctionType(Pointer(Scalar("void", 0, "void")), (_STARTS,)), "function"
)
ROWS_DISTINCT: Final = Symbol("ws_rows_distinct", "ws_rows_distinct", FunctionType(INT, (_STARTS,)), "function")
ROWS_APART: Final = Symbol("ws_rows_apart", "ws_rows_apart", FunctionType(INT, (_STARTS, _ANYTHING)), "function")
ROWS_CLEAR: Final = Symbol(
    "ws_rows_clear", "ws_rows_clear", FunctionType(INT, (_STARTS, LONG_LONG, LONG_LONG)), "function"
)
_ALL: Final = frozenset(
    {
        ALLOCATIONS_APART,
        ALLOCATION_BYTES,
        ALLOCATION_LOWER,
        ALLOCATION_UPPER,
        ALLOCATION_SIZE,
        ROWS_DISTINCT,
        ROWS_APART,
        ROWS_CLEAR,
    }
)
# templates: the types are those of each call
VECTOR_ROWS: Final = Symbol("ws_vector_rows", "ws_vector_rows", FunctionType(_ANYTHING, ()), "function")
VECTOR_SIZES: Final = Symbol("ws_vector_sizes", "ws_vector_sizes", FunctionType(_ANYTHING, ()), "function")
_OF_VECTORS: Final = frozenset({VECTOR_ROWS, VECTOR_SIZES})
_OF_ROWS: Final = frozenset({ROW_STARTS, ROW_STARTS_OF, ROW_ZERO, *_OF_VECTORS})
_QUESTIONS: Final = _ALL | _OF_ROWS
_ABOUT_ROWS: Final = frozenset({*_OF_ROWS, ROWS_DISTINCT, ROWS_APART, ROWS_CLEAR})


def allocations_apart(one: Expr, other: Expr, span: Span) -> Call:
    """Return the test that what `one` points into is known, and that `other` does not point there."""
    return Call(span=span, type=INT, function=_name(ALLOCATIONS_APART, span), arguments=(one, other))


def allocation_bytes(pointer: Expr, span: Span) -> Call:
    """Return how many bytes there are from `pointer` to the end of its allocation, 0 where that is not known."""
    return Call(span=span, type=SIZE_T, function=_name(ALLOCATION_BYTES, span), arguments=(pointer,))


def allocation_lower(pointer: Expr, size: Expr, span: Span) -> Call:
    """Return the first element of the allocation, counted from `pointer`: never more than 0."""
    return Call(span=span, type=LONG_LONG, function=_name(ALLOCATION_LOWER, span), arguments=(pointer, size))


def allocation_upper(pointer: Expr, size: Expr, span: Span) -> Call:
    """Return the element past the last of the allocation, counted from `pointer`: 0 where that is not known."""
    return Call(span=span, type=LONG_LONG, function=_name(ALLOCATION_UPPER, span), arguments=(pointer, size))


def allocation_size(pointer: Expr, size: Expr, span: Span) -> Call:
    """Return the bytes of the allocation's elements."""
    return Call(span=span, type=LONG_LONG, function=_name(ALLOCATION_SIZE, span), arguments=(pointer, size))


def row_starts(rows: Expr, size: Expr, span: Span, bounds: tuple[Expr, Expr] | None = None) -> Call:
    """Return where rows begin, all or those within bounds. The answer is the run time's own memory, which lives on."""
    if bounds is not None:
        arguments = (rows, *bounds, size)
        return Call(span=span, type=_STARTS, function=_name(ROW_STARTS_OF, span), arguments=arguments)
    return Call(span=span, type=_STARTS, function=_name(ROW_STARTS, span), arguments=(rows, size))


def row_zero(starts: Expr, span: Span) -> Call:
    """Return the row from which the starts are counted, as an untyped pointer."""
    void = Pointer(Scalar("void", 0, "void"))
    return Call(span=span, type=void, function=_name(ROW_ZERO, span), arguments=(starts,))


def vector_rows(list: Expr, count: Expr, row: Pointer, span: Span) -> Call:
    """Return where the elements of `count` vectors stand, as an array of pointers of type `row`."""
    return _of_vectors(VECTOR_ROWS, Pointer(row), (list, count), span)


def vector_sizes(list: Expr, count: Expr, span: Span) -> Call:
    """Return how many elements each of `count` vectors has."""
    return _of_vectors(VECTOR_SIZES, Pointer(replace(SIZE_T, const=True)), (list, count), span)


def _of_vectors(function: Symbol, result: Pointer, arguments: tuple[Expr, Expr], span: Span) -> Call:
    type = FunctionType(result, tuple(argument.type for argument in arguments))
    name = Name(span=span, type=type, symbol=function)
    return Call(span=span, type=result, function=name, arguments=arguments)


def rows_distinct(starts: Expr, span: Span) -> Call:
    """Return the test that no two rows lie in one block."""
    return Call(span=span, type=INT, function=_name(ROWS_DISTINCT, span), arguments=(starts,))


def rows_clear(starts: Expr, low: Expr, high: Expr, span: Span) -> Call:
    """Return the test that no two rows have an element of [low, high) in common."""
    return Call(span=span, type=INT, function=_name(ROWS_CLEAR, span), arguments=(starts, low, high))


def rows_apart(starts: Expr, other: Expr, span: Span) -> Call:
    """Return the test that `other`, a pointer or the starts of other rows, leads into none of the rows' blocks."""
    return Call(span=span, type=INT, function=_name(ROWS_APART, span), arguments=(starts, other))


@functools.lru_cache(maxsize=256)
def row_tables(function: Function) -> Mapping[Symbol, Symbol]:
    """Return the variables of a function that lead to rows, each with the one that has where they start."""
    found: dict[Symbol, Symbol] = {}
    for part in walk(function.body):
        value = part.init if isinstance(part, VarDecl) else None
        while isinstance(value, Cast):
            value = peel(value.operand)
        if isinstance(part, VarDecl) and isinstance(value, Call) and _names(value, ROW_ZERO):
            starts = peel(value.arguments[0])
            if isinstance(starts, Name):
                found[part.symbol] = starts.symbol
    return found


def blocks_apart(function: Function, one: Expr, other: Expr, span: Span) -> Call:
    """Return the test that two pointers of a function lead into different blocks: of rows, all blocks are meant."""
    tables = row_tables(function)
    sides = [tables.get(side.symbol) if isinstance(side := peel(end), Name) else None for end in (one, other)]
    starts = [None if s is None else Name(span=span, type=s.type, symbol=s) for s in sides]
    if starts[0] is not None:
        return rows_apart(starts[0], other if starts[1] is None else starts[1], span)
    return allocations_apart(one, other, span) if starts[1] is None else rows_apart(starts[1], one, span)


def apart_pair(function: Function, call: Call) -> tuple[Symbol, ...]:
    """Return the variables of which `blocks_apart` has made a call."""
    blocks = {starts: block for block, starts in row_tables(function).items()}
    found = (side.symbol for end in call.arguments if isinstance(side := peel(end), Name))
    return tuple(blocks.get(symbol, symbol) for symbol in found)


def _names(call: Call, function: Symbol) -> bool:
    return isinstance(call.function, Name) and call.function.symbol == function


def is_apart(call: Call) -> bool:
    """Whether a call asks whether two pointers lead into different blocks."""
    return _names(call, ALLOCATIONS_APART) or _names(call, ROWS_APART)


def asks_allocations(call: Call) -> bool:
    """Whether a call is one of the questions: it reads no memory of the program, and changes none."""
    return isinstance(call.function, Name) and call.function.symbol in _ALL


def is_question(call: Call) -> bool:
    """Whether a call is one of the questions, or asks where rows start: it may read pointers to rows, and changes no
    memory of the program."""
    return isinstance(call.function, Name) and call.function.symbol in _QUESTIONS


def is_vector_question(expr: Node) -> bool:
    """Whether an expression asks where the elements of vectors stand, or how many they are: only the user's text has
    the types of the vectors."""
    function = expr.function if isinstance(expr, Call) else None
    return isinstance(function, Name) and function.symbol in _OF_VECTORS


def names_allocations(node: Node) -> bool:
    """Whether any of the questions is asked in `node`."""
    return any(asks(part) for part in walk(node))


def asks(part: Node) -> bool:
    """Whether a node, without those below it, is such a question, or tells what outlives a data region."""
    match part:
        case Update():
            return part.block
        case DataEnter():
            return part.watch
        case DataRegionBoundary():
            return part.callers or bool(part.lasting)
        case _:
            pass
    return isinstance(part, Call) and isinstance(part.function, Name) and part.function.symbol in _QUESTIONS


def asks_rows(part: Node) -> bool:
    """Whether a node, without those below it, is about where rows start."""
    match part:
        case Name():
            return part.symbol in _ABOUT_ROWS
        case DataEnter() | DataExit() | CaptureStmt():
            return part.starts is not None
        case _:
            return False


def _name(function: Symbol, span: Span) -> Name:
    return Name(span=span, type=function.type, symbol=function)
