"""Which variables have their address taken in a way that lets other code write them later.

`scanf("%d", &n)` does not: the library functions listed here keep no pointer that they are given.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from warpsmith.front import kinds
from warpsmith.front.context import Context

__all__ = ["escaped_keys"]

_KEEPS_NOTHING: Final = frozenset({
    "scanf", "fscanf", "sscanf", "printf", "fprintf", "sprintf", "snprintf", "memcpy", "memmove", "memset",
    "memcmp", "fread", "fwrite", "time", "clock_gettime", "gettimeofday", "frexp", "modf", "remquo", "sincos",
    "strtol", "strtod", "strtoul", "strtoll", "strtoull", "strtof", "getline", "free", "__isoc99_scanf",
    "__isoc99_fscanf", "__isoc99_sscanf",
})  # fmt: skip
_THROUGH = frozenset({kinds.UNEXPOSED_EXPR, kinds.PAREN, kinds.CAST})


def escaped_keys(context: Context) -> Iterator[str]:
    """Yield the keys of the variables of a unit whose address is taken and may be kept."""
    table = context.table
    path: list[int] = []
    for row, depth in enumerate(table.depth):
        del path[depth:]
        if table.kind[row] == kinds.UNARY and table.aux[row] == kinds.ADDRESS_OF and not _is_safe(context, path):
            named = _root(context, row)
            if named is not None:
                yield context.key(named)
        path.append(row)


def _is_safe(context: Context, path: list[int]) -> bool:
    """Whether the expression on top of `path` is an argument of a library function that keeps no pointer."""
    table = context.table
    around = len(path) - 1
    while around >= 0 and table.kind[path[around]] in _THROUGH:
        around -= 1
    if around < 0 or table.kind[path[around]] != kinds.CALL:
        return False
    called = table.children(path[around])[0]
    while table.kind[called] in _THROUGH and table.children(called):
        called = table.children(called)[0]
    if table.kind[called] != kinds.DECL_REF:
        return False
    declared = context.dump.declared[table.aux[called]]
    return declared[9] and declared[1] in _KEEPS_NOTHING


def _root(context: Context, row: int) -> int | None:
    """Return the declaration whose address `&…` takes: followed through members and subscripts, not pointers."""
    table = context.table
    while table.kind[row] != kinds.DECL_REF:
        parts = table.expressions(row)
        if not parts:
            return None
        row = parts[0]
    return table.aux[row]
