"""Which variables have their address taken in a way that lets other code write them later.

`scanf("%d", &n)` does not: by the table of effects it keeps no pointer that it is given.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.front import kinds
from warpsmith.front.context import Context
from warpsmith.tree.effects import EffectsTable

__all__ = ["escaped_keys"]

_THROUGH = frozenset({kinds.UNEXPOSED_EXPR, kinds.PAREN, kinds.CAST})


def escaped_keys(context: Context, effects: EffectsTable) -> Iterator[str]:
    """Yield the keys of the variables of a unit whose address is taken and may be kept."""
    table = context.table
    path: list[int] = []
    for row, depth in enumerate(table.depth):
        del path[depth:]
        if (
            table.kind[row] == kinds.UNARY
            and table.aux[row] == kinds.ADDRESS_OF
            and not _is_safe(context, [*path, row], effects)
        ):
            named = _root(context, row)
            if named is not None:
                yield context.key(named)
        if context.cxx:
            yield from (context.key(number) for number in _bound(context, row))
        path.append(row)


def _bound(context: Context, row: int) -> Iterator[int]:
    """Yield the declarations that a row of C++ binds a reference to: an argument, an initializer, what a lambda names.

    A function of the library keeps no reference that it is given."""
    table, declared = context.table, context.dump.declared
    kind, number = table.kind[row], table.aux[row]
    if kind == kinds.LAMBDA and row in context.only_called:
        return
    if kind == kinds.LAMBDA:
        below = range(row, table.after[row])
        named = (table.aux[r] for r in below if table.kind[r] == kinds.DECL_REF and table.aux[r] >= 0)
        yield from (n for n in named if _is_variable(context, n))
        return
    given: list[int] = []
    if kind == kinds.VAR_DECL and context.types.is_reference(table.type[row]):
        given = table.expressions(row)[-1:]
    elif kind == kinds.CALL and not (number >= 0 and declared[number][9]):
        given = table.expressions(row)
    for part in given:
        if table.kind[part] == kinds.UNEXPOSED_EXPR and kind == kinds.CALL and _is_value(context, row, part):
            continue
        root = _root(context, part)
        if root is not None and _is_variable(context, root):
            yield root


def _is_variable(context: Context, number: int) -> bool:
    return context.dump.declared[number][0] in (kinds.VAR_DECL, kinds.PARM_DECL)


def _is_value(context: Context, call: int, argument: int) -> bool:
    """Whether an argument is handed over by value: the function's parameter is known to be no reference."""
    number = context.table.aux[call]
    if number < 0 or context.dump.declared[number][1].startswith("operator"):
        return False  # the arguments of an operator stand in another order
    parameters = context.types.parameters(context.dump.declared[number][2])
    made = context.dump.declared[number][0] == kinds.CONSTRUCTOR  # its call has no function before the arguments
    position = context.table.expressions(call).index(argument) - (not made)
    if not 0 <= position < len(parameters):
        return False
    return not context.types.is_reference(parameters[position])


def _is_safe(context: Context, path: list[int], effects: EffectsTable) -> bool:
    """Whether the expression on top of `path` is an argument of a library function that keeps no pointer."""
    table = context.table
    around = len(path) - 2
    while around >= 0 and table.kind[path[around]] in _THROUGH:
        around -= 1
    if around < 0 or table.kind[path[around]] != kinds.CALL:
        return False
    called, *arguments = table.children(path[around])
    while table.kind[called] in _THROUGH and table.children(called):
        called = table.children(called)[0]
    if table.kind[called] != kinds.DECL_REF:
        return False
    declared = context.dump.declared[table.aux[called]]
    known = effects.of(declared[1]) if declared[9] and declared[7] in ("", declared[1]) else None
    if known is None or not known.fits(len(arguments)) or known.program:
        return False
    return path[around + 1] in arguments and not known.keeps_argument(arguments.index(path[around + 1]))


def _root(context: Context, row: int) -> int | None:
    """Return the declaration whose address `&…` takes: followed through members and subscripts, not pointers."""
    table = context.table
    while table.kind[row] != kinds.DECL_REF:
        parts = table.expressions(row)
        if not parts:
            return None
        row = parts[0]
    return table.aux[row]
