"""Which variables have their address taken in a way that lets other code write them later.

`scanf("%d", &n)` does not: by the table of effects it keeps no pointer that it is given.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.front.c.context import Context
from warpsmith.front.clang import kinds
from warpsmith.tree.effects.effects import EffectsTable

__all__ = ["escaped_keys"]

_THROUGH = frozenset({kinds.UNEXPOSED_EXPR, kinds.PAREN, kinds.CAST})


def escaped_keys(context: Context, effects: EffectsTable) -> Iterator[str]:
    """Yield the keys of the variables of a unit whose address is taken and may be kept."""
    table = context.table
    path: list[int] = []
    kept: set[int] = set()
    for row, depth in enumerate(table.depth):
        del path[depth:]
        if (
            table.kind[row] == kinds.UNARY
            and table.aux[row] == kinds.ADDRESS_OF
            and not _is_safe(context, [*path, row], effects)
        ):
            kept.update(_roots(context, row))
        path.append(row)
    if context.cxx:
        kept = _references(context, kept)
    yield from (context.key(number) for number in kept)


def _references(context: Context, taken: set[int]) -> set[int]:
    """Return the declarations whose address is `taken`, and those of what references are bound to, and may be kept by.
    A function of the program's that returns a number keeps a reference to a number only where its parameter is kept by
    something itself."""
    kept = set(taken)
    lent: list[tuple[int, int]] = []
    for row in range(len(context.table.kind)):
        for number in _find_bound(context, row):
            parameters = _lends(context, row, number)
            lent += [(number, parameter) for parameter in parameters]
            kept |= set() if parameters else {number}
    changed = True
    while changed:
        more = {number for number, parameter in lent if parameter in kept} - kept
        kept |= more
        changed = bool(more)
    return kept


def _lends(context: Context, row: int, number: int) -> list[int]:
    """Return the parameters that a call of one of the program's functions binds to a number, if it is bound to nothing
    else there."""
    table, declared = context.table, context.dump.declared
    callee = table.aux[row]
    found = context.bodies.get(callee) if table.kind[row] == kinds.CALL and callee >= 0 else None
    if found is None or declared[callee][0] != kinds.FUNCTION_DECL or declared[callee][1].startswith("operator"):
        return []
    parameters = [c for c in table.children(found[0]) if table.kind[c] == kinds.PARM_DECL]
    given = table.expressions(row)[1:]
    result = context.types.result(declared[callee][2])
    if len(parameters) != len(given) or not context.types.is_number(result):
        return []
    mine = [p for p, part in zip(parameters, given, strict=True) if number in _roots(context, part)]
    bound = [p for p in mine if context.types.is_reference(table.type[p])]
    plain = all(context.types.is_number(table.type[p], behind=True) for p in bound)
    return [table.aux[p] for p in bound] if plain else []


def _find_bound(context: Context, row: int) -> Iterator[int]:
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
        if _is_made(context, part):
            continue
        plain = table.kind[part] == kinds.UNEXPOSED_EXPR or context.types.is_number(table.type[part])
        if kind == kinds.CALL and plain and _is_value(context, row, part):
            continue
        yield from (root for root in _roots(context, part) if _is_variable(context, root))


def _is_made(context: Context, row: int) -> bool:
    """Whether an expression is a value of its own, and no variable: a sum, a comparison, a number."""
    table = context.table
    while table.kind[row] in (kinds.PAREN, kinds.UNEXPOSED_EXPR) and len(table.expressions(row)) == 1:
        row = table.expressions(row)[0]
    kind, aux = table.kind[row], table.aux[row]
    if kind == kinds.BINARY:
        return not kinds.FIRST_ASSIGNMENT <= aux <= kinds.LAST_ASSIGNMENT and kinds.BINARY_OPERATORS[aux] != ","
    if kind == kinds.UNARY:
        return kinds.UNARY_OPERATORS[aux] in ("+", "-", "~", "!")
    return kind in (kinds.INTEGER, kinds.FLOATING, kinds.CHARACTER, kinds.CXX_BOOL, kinds.SIZEOF)


def _is_variable(context: Context, number: int) -> bool:
    return context.dump.declared[number][0] in (kinds.VAR_DECL, kinds.PARM_DECL)


def _is_value(context: Context, call: int, argument: int) -> bool:
    """Whether an argument is handed over by value: the function's parameter is known to be no reference."""
    number = context.table.aux[call]
    if number < 0:
        return False
    parameters = context.types.parameters(context.dump.declared[number][2])
    if context.dump.declared[number][1].startswith("operator"):  # its arguments may stand in another order
        by_value = not any(context.types.is_reference(p) for p in parameters)
        return by_value and context.types.is_number(context.table.type[argument])
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


def _roots(context: Context, row: int) -> Iterator[int]:
    """Yield the declarations whose address `&…` takes: followed through members and subscripts, not pointers. Of
    `c ? x : y` and of a comma (C++) that are the variables of its results."""
    table = context.table
    pending = [row]
    while pending:
        row = pending.pop()
        kind, parts = table.kind[row], table.expressions(row)
        if kind == kinds.DECL_REF:
            yield table.aux[row]
        else:
            comma = kind == kinds.BINARY and kinds.BINARY_OPERATORS[table.aux[row]] == ","
            pending += parts[1:] if comma or kind == kinds.CONDITIONAL else parts[:1]
