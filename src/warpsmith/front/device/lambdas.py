"""A lambda that is called where it is made, as a function that gets what it has captured.

    auto f = [=](int i) { return a[i] * n; };        float lambda@7(float *a, int n, int i) { return a[i] * n; }
    auto g = [&](float x) { sum += x; };             void lambda@8(float &sum, float x) { sum += x; }

Invariant: a capture by copy that is handed over at the call has the value that it had where the lambda was made, for
nothing writes such a variable after it is made.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from warpsmith.front.c.context import Context
from warpsmith.front.clang import kinds
from warpsmith.front.device.builders import DeviceExpressionBuilder
from warpsmith.tree.types import VOID, Array, FunctionType, Pointer, Scalar, Symbol, Type

__all__ = ["Lambda", "lambda_at"]

_VARIABLES: Final = frozenset({kinds.VAR_DECL, kinds.PARM_DECL})
_INCREMENTS: Final = frozenset({"x++", "x--", "++x", "--x", "&"})


class Lambda(Struct, frozen=True):
    """`captures`: the declaration row (-1: `this`) and the parameter of each capture, in order; `row`: its node."""

    row: int
    symbol: Symbol
    captures: tuple[tuple[int, Symbol], ...]


def lambda_at(expressions: DeviceExpressionBuilder, row: int) -> Lambda | str:
    """Return the function that a lambda is, or why it cannot be one."""
    context, table = expressions.context, expressions.table
    rows = range(row, table.after[row])
    own = {table.aux[r] for r in rows if table.kind[r] in _VARIABLES}
    named = dict.fromkeys(table.aux[r] for r in rows if table.kind[r] == kinds.DECL_REF)
    free = [n for n in named if n not in own and context.dump.declared[n][0] in _VARIABLES]
    free = [n for n in free if context.symbol(n).storage in ("local", "parameter") and not context.symbol(n).space]
    text = expressions.text.file.text
    start = table.start[row]
    head = text[start + 1 : max(start + 1, text.find("]", start))]
    words = [word.strip() for word in head.split(",") if word.strip()]
    if any("=" in word.strip("=") for word in words):
        return "a lambda that captures an expression"
    key = f"{expressions.text.file.path}:{start}:lambda:{row}"
    captures: list[tuple[int, Symbol]] = []
    if any(table.kind[r] == kinds.THIS or _is_own_member(context, r) for r in rows):
        if expressions.this is None:
            return "a lambda that names `this` where no object is seen"
        captures.append((-1, Symbol("this", f"{key}:this", expressions.this.type, "parameter")))
    for number in free:
        symbol = context.symbol(number)
        copied = not ("&" in words or f"&{symbol.name}" in words) or symbol.name in words
        inside = _is_assigned(context, number, rows)
        if copied and (inside or _is_assigned(context, number, range(table.after[row], len(table.kind)))):
            return f"a lambda that has a copy of {symbol.name}, which is written later"
        plain = isinstance(symbol.type, Scalar | Pointer) and not inside
        reference = isinstance(symbol.type, Pointer) and symbol.type.reference
        type: Type = symbol.type if plain or reference else Pointer(symbol.type, const=True, reference=True)
        captures.append((number, Symbol(symbol.name, f"{key}:{symbol.key}", type, "parameter", symbol.span)))
    result, parameters = _signature(context, row)
    whole = FunctionType(result, (*(symbol.type for _, symbol in captures), *parameters))
    line = expressions.text.file.location(start)[0]
    return Lambda(row, Symbol(f"lambda@{line}", key, whole, "function", expressions.span(row)), tuple(captures))


def _is_own_member(context: Context, row: int) -> bool:
    """Whether a row names a member of the object of the method around it, without saying so."""
    table = context.table
    return table.kind[row] == kinds.MEMBER_REF_EXPR and not table.expressions(row)


def _signature(context: Context, row: int) -> tuple[Type, tuple[Type, ...]]:
    """Return the result and the parameters of a lambda; the result is that of its call operator."""
    table = context.table
    parameters = [table.aux[c] for c in table.children(row) if table.kind[c] == kinds.PARM_DECL]
    types = tuple(context.symbol(number).type for number in parameters)
    for called, kind in enumerate(table.kind):
        if kind != kinds.CALL or table.aux[called] < 0 or not table.expressions(called):
            continue
        if context.dump.declared[table.aux[called]][1] != "operator()":
            continue
        if context.lambda_of(table.expressions(called)[0]) == row:
            type = context.symbol(table.aux[called]).type
            return (type.result if isinstance(type, FunctionType) else VOID), types
    return VOID, types


def _is_assigned(context: Context, number: int, rows: range) -> bool:
    """Whether one of `rows` assigns a variable or a part of it, or takes its address."""
    table = context.table
    for row in rows:
        kind = table.kind[row]
        if kind in (kinds.BINARY, kinds.COMPOUND_ASSIGN):
            changes = kinds.FIRST_ASSIGNMENT <= table.aux[row] <= kinds.LAST_ASSIGNMENT
        else:
            changes = kind == kinds.UNARY and kinds.UNARY_OPERATORS[min(table.aux[row], 13)] in _INCREMENTS
        parts = table.expressions(row) if changes else []
        if parts and _root(context, parts[0]) == number:
            return True
    return False


def _root(context: Context, row: int) -> int:
    """Return the variable that an lvalue is a part of, -1 where it lies behind a pointer."""
    table = context.table
    while table.kind[row] != kinds.DECL_REF:
        parts = table.expressions(row)
        if not parts or table.kind[row] in (kinds.CALL, kinds.UNARY):
            return -1
        if table.kind[row] == kinds.UNEXPOSED_EXPR and _is_pointer(context, row) and not _is_array(context, parts[0]):
            return -1  # the value of a pointer: what it points to is another object
        row = parts[0]
    return table.aux[row]


def _is_pointer(context: Context, row: int) -> bool:
    number = context.table.type[row]
    return number >= 0 and isinstance(context.types.of(number), Pointer)


def _is_array(context: Context, row: int) -> bool:
    table = context.table
    number = table.type[row]
    named = table.kind[row] == kinds.DECL_REF
    return isinstance(context.symbol(table.aux[row]).type if named else context.types.of(number), Array)
