"""Statement expressions that name values and use them, as macros of GNU C do: one expression, with the values in place.

    ({ int _x = (a[i]); int _y = (n); _x < _y ? _x : _y; })        a[i] < n ? a[i] : n

Every value is written as often as it is used, so it must not matter how often it is computed. Limits: declarations of
numbers and pointers in front of one expression, none of which changes anything; what becomes long is opaque.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from warpsmith.base.source import Span
from warpsmith.front.clang import kinds
from warpsmith.front.clang.wire import INITIALIZER
from warpsmith.front.cxx.objects import is_pure
from warpsmith.front.device.builders import DeviceExpressionBuilder
from warpsmith.tree.nodes import Cast, Expr
from warpsmith.tree.types import Pointer, Scalar
from warpsmith.tree.walk import walk

__all__ = ["build_with_temporaries"]

_LONGEST: Final = 400
"""Parts of an expression at most: macros in macros double it each time."""
_REASON: Final = "a statement expression"


def build_with_temporaries(expressions: DeviceExpressionBuilder, row: int, span: Span) -> Expr:
    """Return the value of a statement expression, or opaque code where it is of another form."""
    table = expressions.table
    bodies = [child for child in table.children(row) if table.kind[child] == kinds.COMPOUND]
    parts = table.children(bodies[0]) if len(bodies) == 1 else []
    value = _value(expressions, parts)
    if value is None or not is_pure(value) or sum(1 for _ in walk(value)) > _LONGEST:
        return expressions.make_opaque(row, _REASON)
    return value


def _value(expressions: DeviceExpressionBuilder, parts: Sequence[int]) -> Expr | None:
    """Return the last of some statements, with what the others declare in place; None where they do more."""
    table = expressions.table
    if not parts or not all(table.kind[part] == kinds.DECL_STMT for part in parts[:-1]):
        return None
    for part in parts[:-1]:
        for declared in table.children(part):
            if table.kind[declared] != kinds.VAR_DECL:
                return None
            init = _init(expressions, declared)
            if init is None or sum(1 for _ in walk(init)) > _LONGEST:
                return None
            expressions.bound[table.aux[declared]] = init
    return expressions.build(parts[-1])


def _init(expressions: DeviceExpressionBuilder, declared: int) -> Expr | None:
    """Return the value of a variable, in its type; None where it has none, or computing it does more."""
    table, symbol = expressions.table, expressions.context.symbol(expressions.table.aux[declared])
    inits = [child for child in table.expressions(declared) if table.flags[child] & INITIALIZER]
    plain = isinstance(symbol.type, Scalar) or (isinstance(symbol.type, Pointer) and not symbol.type.reference)
    if len(inits) != 1 or not plain or symbol.storage != "local":
        return None
    init = expressions.build(inits[0])
    if not is_pure(init):
        return None
    return init if init.type == symbol.type else Cast(span=init.span, type=symbol.type, operand=init)
