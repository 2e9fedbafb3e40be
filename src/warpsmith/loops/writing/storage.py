"""Memory that a step adds: new names, and the statements that get it before a loop and give it back after.

    double *w_all = malloc((n > 0 ? (size_t)n : 1) * sizeof(double));
    if (!w_all)
        abort();
    …
    free(w_all);

Where the memory cannot be had the program ends, as it does where a device's memory cannot be had.
"""

from __future__ import annotations

from functools import lru_cache, reduce
from itertools import chain
from pathlib import Path

from warpsmith.base.c_text import find_includes
from warpsmith.base.source import Span
from warpsmith.loops.analysis.extremes import wide_expr
from warpsmith.loops.linear import Linear, number, use
from warpsmith.tree.nodes import (
    Binary,
    Call,
    Cast,
    Conditional,
    DeclStmt,
    Expr,
    ExprStmt,
    If,
    Literal,
    SizeOf,
    Stmt,
    Unary,
    VarDecl,
)
from warpsmith.tree.printing.printer import print_type
from warpsmith.tree.program import Unit
from warpsmith.tree.types import DOUBLE, INT, SIZE_T, VOID, FunctionType, Pointer, Scalar, Symbol, Type, byte_size

__all__ = ["Room", "after", "allocation", "before", "has_memory_functions", "positive", "release"]

_ALLOCATING = frozenset(("<stdlib.h>", "<cstdlib>", '"stdlib.h"', '"cstdlib"'))
# above this many elements the product of the sizes is taken to be out of reach (it must not wrap around)
_MOST_ELEMENTS = "1e15"


def before(span: Span) -> Span:
    """Return the empty place before `span`: where statements stand that were made for it and run first."""
    return Span(span.file, span.start, span.start)


def after(span: Span) -> Span:
    """Return the empty place after `span`."""
    return Span(span.file, span.end, span.end)


def has_memory_functions(unit: Unit) -> bool:
    """Whether malloc, free and abort are declared: the unit, or a header of the project that it uses, includes
    <stdlib.h>."""
    headers = (path.read_text("latin-1") for path in map(Path, unit.headers) if path.is_file())
    return any(map(_includes_allocation, chain((unit.file.text,), headers)))


@lru_cache(maxsize=256)
def _includes_allocation(text: str) -> bool:
    return not _ALLOCATING.isdisjoint(find_includes(text))


class Room:
    """How many elements are needed: the product of `counts`, and none where one of them is not positive.

    `checked`: the product of counts that are all positive may be more than the loops can ever touch, so that it is
    tested too.
    """

    def __init__(self, counts: tuple[Linear, ...], exact: tuple[Linear, ...], *, checked: bool) -> None:
        self.counts = counts
        self.exact = exact
        self.checked = checked

    def elements(self, span: Span) -> Expr:
        """Return the number of elements to ask for, at least one."""
        counts = [count for count in self.counts if count != Linear((), 1)] or [Linear((), 1)]
        factors = [wide_expr(count, span) for count in counts]
        wide = [factors[0] if isinstance(factors[0], Literal) else Cast(span=span, type=SIZE_T, operand=factors[0])]
        elements = reduce(lambda a, b: Binary(span=span, type=SIZE_T, op="*", left=a, right=b), [*wide, *factors[1:]])
        condition = positive(self.exact, span)
        if condition is not None:
            one = number(1, span)
            elements = Conditional(span=span, type=SIZE_T, condition=condition, then=elements, other=one)
        return elements

    def bytes(self, element: Type, span: Span) -> Expr:
        """Return the size to ask for."""
        return Binary(span=span, type=SIZE_T, op="*", left=self.elements(span), right=_size_of(element, span))

    def too_large(self, span: Span) -> Expr | None:
        """Return the test that the product is out of reach, where it must be made."""
        factors = [wide_expr(count, span) for count in self.counts if count.terms]
        if not self.checked or len(factors) < 2:
            return None
        first = Cast(span=span, type=DOUBLE, operand=factors[0])
        whole = reduce(lambda a, b: Binary(span=span, type=DOUBLE, op="*", left=a, right=b), [first, *factors[1:]])
        most = Literal(span=span, type=DOUBLE, text=_MOST_ELEMENTS, value=float(_MOST_ELEMENTS))
        large: Expr = Binary(span=span, type=INT, op=">", left=whole, right=most)
        condition = positive(self.exact, span)
        if condition is not None:
            large = Binary(span=span, type=INT, op="&&", left=condition, right=large)
        return large


def positive(counts: tuple[Linear, ...], span: Span) -> Expr | None:
    """Return the condition that every count is positive; None where that is certain."""
    tests = [_is_positive(count, span) for count in dict.fromkeys(counts) if count.terms or count.constant <= 0]
    return reduce(lambda a, b: Binary(span=span, type=INT, op="&&", left=a, right=b), tests) if tests else None


def _is_positive(count: Linear, span: Span) -> Expr:
    """Return `n > 0`, `n > m`, `n > 1` for n, n - m, n - 1."""
    factors = sorted(factor for _, factor in count.terms)
    signed = {symbol.type.kind for symbol in count.symbols if isinstance(symbol.type, Scalar)} == {"signed"}
    if factors == [-1, 1] and signed and not count.constant:
        greater, less = (next(s for s, f in count.terms if f == sign) for sign in (1, -1))
        return Binary(span=span, type=INT, op=">", left=use(greater, span), right=use(less, span))
    least = max(0, -count.constant)
    left = wide_expr(count.shift(least), span)
    return Binary(span=span, type=INT, op=">", left=left, right=number(least, span))


def allocation(unit: Unit, symbol: Symbol, room: Room, span: Span, *, zero: bool = False) -> tuple[Stmt, ...]:
    """Return the declaration of `symbol`, a pointer, with its memory, all `zero` where it shall be, and the test that
    it was had."""
    assert isinstance(symbol.type, Pointer)
    element = symbol.type.to
    name, arguments = "malloc", [room.bytes(element, span)]
    if zero:
        name, arguments = "calloc", [room.elements(span), _size_of(element, span)]
    function = _library(name, Pointer(VOID), (SIZE_T,) * len(arguments), span)
    asked = Call(span=span, type=Pointer(VOID), function=function, arguments=tuple(arguments))
    value: Expr = asked if unit.language == "c" else Cast(span=span, type=symbol.type, operand=asked)
    declared = DeclStmt(span=span, declarations=(VarDecl(span=span, symbol=symbol, init=value),))
    failed: Expr = Unary(span=span, type=INT, op="!", operand=use(symbol, span))
    large = room.too_large(span)
    if large is not None:
        failed = Binary(span=span, type=INT, op="||", left=failed, right=large)
    stop = Call(span=span, type=VOID, function=_library("abort", VOID, (), span), arguments=())
    return declared, If(span=span, condition=failed, then=ExprStmt(span=span, expr=stop), other=None)


def release(symbol: Symbol, span: Span) -> Stmt:
    """Return the statement that gives the memory back."""
    function = _library("free", VOID, (Pointer(VOID),), span)
    return ExprStmt(span=span, expr=Call(span=span, type=VOID, function=function, arguments=(use(symbol, span),)))


def _library(name: str, result: Type, parameters: tuple[Type, ...], span: Span) -> Expr:
    return use(Symbol(name, name, FunctionType(result, parameters), "function"), span)


def _size_of(element: Type, span: Span) -> Expr:
    return SizeOf(span=span, type=SIZE_T, text=f"sizeof({print_type(element)})", value=byte_size(element))
