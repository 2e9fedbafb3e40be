"""Whether a kernel may compute its indices in 32 bits: what its launcher tests before it does.

    A[i][k], rows of nk elements    i·nk + k    0 <= i <= ni - 1, 0 <= k <= nk - 1:  (ni - 1)·nk + (nk - 1) < 2^31

Invariant: where the conditions hold, each index of a row of variable length, and each part of its sum, lies between 0
and 2^31 - 1 whenever a thread computes it: no subscript is negative and no row empty, so that no part is more than the
whole, which the last subscripts have at most. The test is computed in floating point: its numbers are exact up to 2^53,
and more than 2^31 stays more.
Limits: subscripts of counters and of what the launch passes, by the bounds of loops (extremes.py); what memory or a
variable of the thread decides has no bound, and then the kernel keeps 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from warpsmith.offload.expressions import binary, number
from warpsmith.offload.mapping.extremes import Range, extremes
from warpsmith.offload.mapping.ranges import counter_range
from warpsmith.poly.isl.bound_values import constant, value_polynomial
from warpsmith.tree.nodes import (
    Binary,
    Cast,
    Conditional,
    Expr,
    For,
    Index,
    Literal,
    MacroUse,
    Name,
    Node,
    SizeOf,
    Stmt,
    Unary,
)
from warpsmith.tree.types import DOUBLE, INT, Symbol, is_integer
from warpsmith.tree.walk import children, names, peel, same, walk

__all__ = ["LARGEST", "narrow_conditions"]

LARGEST: Final = 2**31 - 1
"""The largest index of 32 bits."""

_COMPUTED: Final = (Binary, Cast, Conditional, Literal, MacroUse, Name, SizeOf, Unary)
_CHANGING: Final = ("++", "--", "&", "*")


class _UnboundedError(Exception):
    """An index may be anything."""


class _Box(Struct, frozen=True):
    """The subscripts of one element: the largest of each, the extents of its rows, and what makes sure that no
    subscript is negative and no row empty."""

    highs: tuple[Expr, ...]
    extents: tuple[Expr, ...]
    lower: tuple[Expr, ...]


def narrow_conditions(
    heads: Sequence[For], body: Stmt, rows: Mapping[Symbol, tuple[Expr, ...]], passed: frozenset[Symbol]
) -> tuple[Expr, ...]:
    """Return what must hold at a launch for the indices of all arrays in `rows` (with the extents of their rows) to fit
    in 32 bits, empty where nothing that can be tested makes sure of that. `heads` are the loops whose iterations are
    threads, `passed` the variables that keep what they are worth at the launch."""
    ranges: dict[Symbol, Range] = {}
    found: list[Expr] = []
    try:
        for head in heads:
            _enter(head, ranges, passed)
        boxes = [_box(*access, passed) for access in _accesses(body, ranges, (rows, passed))]
        for at, one in enumerate(boxes):
            found += one.lower
            before, after = boxes[:at], boxes[at + 1 :]
            if not any(_is_inside(one, other, strict=True) for other in (*before, *after)) and not any(
                _is_inside(one, other, strict=False) for other in before
            ):
                found.append(_fits(one))
    except _UnboundedError:
        return ()
    return tuple(one for at, one in enumerate(found) if not any(same(one, before) for before in found[:at]))


def _enter(loop: For, ranges: dict[Symbol, Range], passed: frozenset[Symbol]) -> None:
    """Note between which numbers a counter runs; one whose bounds move in a way that we cannot see has none."""
    known = all(_is_bounded(part, ranges, passed) for part in (loop.lower, loop.bound))
    ends = counter_range(loop, ranges) if known else None
    if ends is None:
        ranges.pop(loop.variable, None)
    else:
        ranges[loop.variable] = ends


_Access = tuple[list[Expr], tuple[Expr, ...], Mapping[Symbol, Range]]


def _accesses(
    node: Node, ranges: Mapping[Symbol, Range], known: tuple[Mapping[Symbol, tuple[Expr, ...]], frozenset[Symbol]]
) -> Iterator[_Access]:
    """Yield the elements of arrays of rows, each with the counters' ranges where it stands. Raises _UnboundedError
    where such an array is used in another way."""
    rows, passed = known
    if isinstance(node, Name) and node.symbol in rows:
        raise _UnboundedError
    if isinstance(node, For):
        inside = dict(ranges)
        _enter(node, inside, passed)
        for child in children(node):
            yield from _accesses(child, inside, known)
        return
    if isinstance(node, Index):
        subscripts, root = _subscripts(node)
        if isinstance(root, Name) and root.symbol in rows:
            if len(subscripts) != len(rows[root.symbol]) + 1:
                raise _UnboundedError
            yield subscripts, rows[root.symbol], ranges
            for subscript in subscripts:
                yield from _accesses(subscript, ranges, known)
            return
    for child in children(node):
        yield from _accesses(child, ranges, known)


def _subscripts(node: Index) -> tuple[list[Expr], Expr]:
    """Return the subscripts of an element, the outermost first, and what they are of."""
    found: list[Expr] = []
    base: Expr = node
    while isinstance(base, Index):
        found.insert(0, base.index)
        base = peel(base.base)
    return found, base


def _is_bounded(expr: Expr, ranges: Mapping[Symbol, Range], passed: frozenset[Symbol]) -> bool:
    """Whether an expression is computed from counters with ranges and what the launch passes alone."""
    known = all(n.symbol in ranges or n.symbol in passed or n.symbol.value is not None for n in names(expr))
    plain = all(isinstance(part, _COMPUTED) for part in walk(expr))
    return known and plain and not any(isinstance(part, Unary) and part.op in _CHANGING for part in walk(expr))


def _box(
    subscripts: Sequence[Expr], extents: tuple[Expr, ...], ranges: Mapping[Symbol, Range], passed: frozenset[Symbol]
) -> _Box:
    """Return how far the subscripts of one element go."""
    highs: list[Expr] = []
    lower: list[Expr] = []
    for subscript in subscripts:
        integer = is_integer(peel(subscript).type) and _is_bounded(subscript, ranges, passed)
        ends = extremes(subscript, ranges) if integer else None
        if ends is None:
            raise _UnboundedError
        lower += _at_least(ends[0], 0)
        highs.append(ends[1])
    for extent in extents:
        if not _is_bounded(extent, {}, passed):
            raise _UnboundedError
        lower += _at_least(extent, 1)
    return _Box(tuple(highs), extents, tuple(lower))


def _is_inside(one: _Box, other: _Box, *, strict: bool) -> bool:
    """Whether no subscript of one element goes further than that of another one with the same rows; `strict`: and one
    of them less far."""
    if len(one.extents) != len(other.extents) or not all(map(same, one.extents, other.extents)):
        return False
    ahead = [_distance(a, b) for a, b in zip(one.highs, other.highs, strict=True)]
    known = [by for by in ahead if by is not None and by >= 0]
    return len(known) == len(ahead) and (not strict or any(known))


def _distance(one: Expr, other: Expr) -> int | None:
    """Return how much more another expression is, where that is a number."""
    return (value_polynomial(other) - value_polynomial(one)).number


def _fits(box: _Box) -> Expr:
    """Return the test that the largest index is one of 32 bits."""
    span = box.highs[0].span
    total: Expr = Cast(span=span, type=DOUBLE, operand=box.highs[0])
    for extent, high in zip(box.extents, box.highs[1:], strict=True):
        total = binary("+", binary("*", total, extent, DOUBLE), high, DOUBLE)
    return binary("<=", total, number(LARGEST, span), INT)


def _at_least(expr: Expr, least: int) -> Iterator[Expr]:
    value = constant(expr)
    if value is None:
        yield binary(">=", expr, number(least, expr.span), INT)
    elif value < least:
        raise _UnboundedError
