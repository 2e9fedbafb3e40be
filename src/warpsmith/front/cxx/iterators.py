"""Loops over a std::vector by an iterator, found in the parser's rows.

    for (auto it = v.begin(); it != v.end(); ++it) body      counted, where the body says `*it` and `it->x` only
    for (auto it = v.begin(); it != v.end();)                not counted: the body may move it
    … v.erase(it) …                                          not counted: the iterator is handed over

Invariant: the iterator of a loop that is found walks from the first element of a vector to its last one, one by one, as
long as the vector stays as it is, which whoever counts the loop has to make sure.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from warpsmith.front.c.context import Context
from warpsmith.front.clang import kinds

__all__ = ["ITERATOR", "IteratorLoop", "find_iterator_loop", "is_iterator_use", "strip_conversion"]

ITERATOR: Final = "__gnu_cxx::__normal_iterator<"
_COMPARED: Final = {"operator!=": "!=", "operator<": "<"}


class IteratorLoop(Struct, frozen=True):
    """Rows of such a loop: the iterator's declaration, the vectors whose begin and end it compares, and the body."""

    variable: int
    first: int
    last: int
    body: int


def find_iterator_loop(context: Context, row: int) -> IteratorLoop | None:
    """Return the parts of a `for` statement that goes over a vector by an iterator; None for any other."""
    parts = context.table.parts(row)
    if len(parts) != 4 or context.table.kind[parts[0]] != kinds.DECL_STMT:
        return None
    declared = [c for c in context.table.children(parts[0]) if context.table.kind[c] == kinds.VAR_DECL]
    if len(declared) != 1 or not context.table.expressions(declared[0]):
        return None
    first = _container(context, context.table.expressions(declared[0])[-1], ("begin", "cbegin"))
    last = _end_of(context, parts[1], context.table.aux[declared[0]])
    if first is None or last is None or not _advances(context, parts[2], context.table.aux[declared[0]]):
        return None
    found = IteratorLoop(declared[0], first, last, parts[3])
    return found if _only_read(context, found) else None


def is_iterator_use(context: Context, row: int) -> bool:
    """Whether a row calls `operator*` or `operator->` of a vector's iterator."""
    callee = context.table.aux[row]
    if context.table.kind[row] != kinds.CALL or callee < 0 or not context.is_library(callee):
        return False
    return context.detail(callee)[0].startswith(ITERATOR) and context.dump.declared[callee][1] in (
        "operator*",
        "operator->",
    )


def strip_conversion(context: Context, row: int) -> int:
    """Return the row below conversions, that of an iterator to one of constants among them."""
    row = context.table.inner(row)
    callee = context.table.aux[row]
    while context.table.kind[row] == kinds.CALL and callee >= 0 and len(context.table.expressions(row)) == 1:
        if context.dump.declared[callee][0] != kinds.CONSTRUCTOR or not context.is_library(callee):
            break
        row = context.table.inner(context.table.expressions(row)[0])
        callee = context.table.aux[row]
    return row


def _container(context: Context, row: int, names: tuple[str, ...]) -> int | None:
    """Return the vector whose `begin` or `end` a row calls."""
    row = strip_conversion(context, row)
    callee = context.table.aux[row]
    if context.table.kind[row] != kinds.CALL or callee < 0 or not context.is_library(callee):
        return None
    name = context.dump.declared[callee][1]
    vector = context.detail(callee)[0].startswith("std::vector<")
    parts = context.table.expressions(row)
    if name not in names or not vector or len(parts) != 1 or context.table.kind[parts[0]] != kinds.MEMBER_REF_EXPR:
        return None
    below = context.table.expressions(parts[0])
    return below[0] if len(below) == 1 else None


def _end_of(context: Context, row: int, variable: int) -> int | None:
    """Return the vector whose end the iterator is compared with."""
    row = context.table.inner(row)
    callee = context.table.aux[row]
    if context.table.kind[row] != kinds.CALL or callee < 0 or not context.is_library(callee):
        return None
    parts = context.table.expressions(row)
    if context.dump.declared[callee][1] not in _COMPARED or len(parts) != 3 or not _names(context, parts[0], variable):
        return None
    return _container(context, parts[2], ("end", "cend"))


def _advances(context: Context, row: int, variable: int) -> bool:
    row = context.table.inner(row)
    callee = context.table.aux[row]
    called = context.table.kind[row] == kinds.CALL and callee >= 0 and context.is_library(callee)
    if not called or context.dump.declared[callee][1] != "operator++":
        return False
    return _names(context, context.table.expressions(row)[0], variable)


def _names(context: Context, row: int, variable: int) -> bool:
    row = context.table.inner(row)
    return context.table.kind[row] == kinds.DECL_REF and context.table.aux[row] == variable


def _only_read(context: Context, loop: IteratorLoop) -> bool:
    """Whether the body does nothing with the iterator but go to its element."""
    table, variable = context.table, context.table.aux[loop.variable]
    body = range(loop.body, table.after[loop.body])
    uses = [row for row in body if table.kind[row] == kinds.DECL_REF and table.aux[row] == variable]
    through = {
        table.inner(part) for row in body if is_iterator_use(context, row) for part in table.expressions(row)[:1]
    }
    return through.issuperset(uses) and not any(table.kind[row] == kinds.LAMBDA for row in body)
