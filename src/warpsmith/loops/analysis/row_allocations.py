"""Whether a program gives each row of a `T **` a block of its own, or exchanges rows.

    for (i …) a[i] = malloc(m * sizeof *a[i]);      yes: a block is stored in a pointer's element, again and again
    for (i …) a[i] = v[i].data();                   yes: each container in an array has a block of its own
    a = ws_vector_rows(v.data(), v.size());         yes: the same
    a[0] = malloc(n * m * sizeof **a);              no: one block, whose parts the other pointers are given
    t = a[k]; a[k] = a[p]; a[p] = t;                rows change their places: their distances are not even for long

Only a hint, for which of two steps is tried first: what the memory is like is tested when the program runs.
"""

from __future__ import annotations

from msgspec.structs import replace

from warpsmith.poly.effects.summaries import Summaries
from warpsmith.tree.allocations import is_vector_question
from warpsmith.tree.containers import DATA, is_held_by_container
from warpsmith.tree.nodes import (
    Assign,
    Call,
    Cast,
    Conditional,
    Expr,
    For,
    Function,
    Index,
    Literal,
    Member,
    Node,
    Unary,
    VerbatimExpr,
    While,
)
from warpsmith.tree.types import Pointer, Record, Scalar, Type
from warpsmith.tree.walk import peel, walk

__all__ = ["exchanges_rows", "has_separate_rows"]


def has_separate_rows(summaries: Summaries, row: Type) -> bool:
    """Whether some loop of the program allocates things of type `row`, one after the other, or takes them from
    containers in an array."""
    question = ("separate rows", _plain(row))
    return summaries.remember(question, lambda: _may_be_found(summaries, _plain(row)))


def exchanges_rows(summaries: Summaries, row: Type) -> bool:
    """Whether some store puts into an array of pointers to things of type `row` what was found in one."""
    question = ("exchanged rows", _plain(row))
    return summaries.remember(question, lambda: _may_be_exchanged(summaries, _plain(row)))


def _may_be_exchanged(summaries: Summaries, row: Type) -> bool:
    stores = [p for f in summaries.definitions.values() for p in walk(f.body) if isinstance(p, Assign) and _is_row(p)]
    return any(_plain(one.target.type) == row and isinstance(peel(one.value), Index) for one in stores)


def _may_be_found(summaries: Summaries, row: Type) -> bool:
    functions = summaries.definitions.values()
    if any(is_vector_question(part) and _leads_to(part, row) for f in functions for part in walk(f.body)):
        return True
    stores = (part for f in functions for part in _in_loops(f) if isinstance(part, Assign))
    return any(_plain(one.target.type) == row and _is_row(one) and _is_fresh(summaries, one.value) for one in stores)


def _leads_to(part: Node, row: Type) -> bool:
    return isinstance(part, Call) and isinstance(part.type, Pointer) and _plain(part.type.to) == row


def _in_loops(function: Function) -> set[object]:
    return {part for loop in walk(function.body) if isinstance(loop, For | While) for part in walk(loop.body)}


def _is_row(store: Assign) -> bool:
    place = peel(store.target)
    return store.op == "=" and (isinstance(place, Index) or (isinstance(place, Unary) and place.op == "*"))


def _is_fresh(summaries: Summaries, value: Expr) -> bool:
    value = peel(value)
    while isinstance(value, Cast):
        value = peel(value.operand)
    if isinstance(value, Conditional):
        return _is_fresh(summaries, value.then) or _is_fresh(summaries, value.other)
    if isinstance(value, VerbatimExpr):
        return value.span.text.startswith("new ")
    if _starts_container(value):
        return True
    return isinstance(value, Call) and summaries.flow(value).fresh


def _starts_container(value: Expr) -> bool:
    """Whether a pointer leads to the first element of a container that is itself an element: `v[i].data()`,
    `&v[i][0]`."""
    if isinstance(value, Unary) and value.op == "&" and isinstance(first := peel(value.operand), Index):
        index = peel(first.index)
        value = peel(first.base) if isinstance(index, Literal) and index.value == 0 else value
    held = isinstance(value, Member) and value.field == DATA and is_held_by_container(value)
    return held and isinstance(value, Member) and isinstance(peel(value.base), Index)


def _plain(type: Type) -> Type:
    """Return a row's type without qualifiers."""
    if isinstance(type, Pointer):
        to = type.to
        return Pointer(replace(to, const=False) if isinstance(to, Scalar | Record) else to)
    return type
