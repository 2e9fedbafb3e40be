"""`for` loops that were not counted as the user wrote them, and are once their bound is a variable.

    for (i = 0; i < g->n; i++) ids[i] = i;      a store of an int may change g->n
    int n = g->n;
    for (i = 0; i < n; i++) ids[i] = i;         counted

Invariant: a loop that `make_counted` returns runs the same iterations with the same values of its counter.
"""

from __future__ import annotations

from typing import cast

from msgspec import Struct

from warpsmith.tree.nodes import (
    Assign,
    Binary,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    Literal,
    MacroUse,
    Name,
    Relation,
    Stmt,
    Unary,
    While,
)
from warpsmith.tree.types import Scalar, Symbol, integer_range, is_integer
from warpsmith.tree.walk import names, peel, walk, written_symbols

__all__ = ["Header", "counted_header", "find_start", "make_counted"]

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}
_STEPS = {"x++": 1, "++x": 1, "x--": -1, "--x": -1}


class Header(Struct, frozen=True):
    """`for (variable = lower; variable relation bound; variable += step)`; nothing is said of the body."""

    variable: Symbol
    declares: bool
    lower: Expr
    relation: Relation
    bound: Expr
    step: int


def counted_header(loop: While) -> Header | None:
    """Return the parts of the header of a `for` loop that looks counted."""
    if loop.form != "for" or loop.init is None or loop.condition is None or loop.advance is None:
        return None
    start = find_start(loop.init)
    if start is None or not _is_counter(start[0]):
        return None
    variable, declares, lower = start
    test = _test(loop.condition, variable)
    step = _step(loop.advance, variable)
    if test is None or step is None or any(n.symbol == variable for e in (lower, test[1]) for n in names(e)):
        return None
    relation, bound = test
    forward = step in (1, -1) if relation == "!=" else (step > 0) == (relation in ("<", "<="))
    return Header(variable, declares, lower, relation, bound, step) if forward else None


def make_counted(loop: While, hidden: frozenset[Symbol]) -> For | None:
    """Return the loop as a counted one, where its counter and bound are variables that the body does not write;
    `hidden` are those that something else may change."""
    header = counted_header(loop)
    if header is None:
        return None
    written = written_symbols(loop.body)
    for part in walk(header.bound):
        signed = isinstance(part, Unary) and part.op in ("+", "-")
        if not isinstance(part, Name | Literal | Binary | MacroUse) and not signed:
            return None
    for symbol in (header.variable, *(n.symbol for n in names(header.bound))):
        own = symbol.storage in ("local", "parameter", "enumerator") and symbol not in hidden
        if not own or symbol in written or (isinstance(symbol.type, Scalar) and symbol.type.volatile):
            return None
    return For(
        span=loop.span, variable=header.variable, declares=header.declares, lower=header.lower,
        relation=header.relation, bound=header.bound, step=header.step, body=loop.body, header=loop.header,
    )  # fmt: skip


def find_start(init: Stmt) -> tuple[Symbol, bool, Expr] | None:
    """Return the variable that the first part of a `for` sets, whether it declares it, and the value."""
    if isinstance(init, DeclStmt) and len(init.declarations) == 1:
        only = init.declarations[0]
        return (only.symbol, True, only.init) if only.init is not None else None
    expr = peel(init.expr) if isinstance(init, ExprStmt) else None
    if isinstance(expr, Assign) and expr.op == "=" and isinstance(target := peel(expr.target), Name):
        return target.symbol, False, expr.value
    return None


def _is_counter(symbol: Symbol) -> bool:
    type = symbol.type
    return isinstance(type, Scalar) and is_integer(type) and type.kind != "bool" and not type.volatile


def _test(condition: Expr, variable: Symbol) -> tuple[Relation, Expr] | None:
    test = peel(condition)
    if not isinstance(test, Binary) or test.op not in _MIRRORED:
        return None
    if _is(test.left, variable):
        return cast(Relation, test.op), test.right
    return (cast(Relation, _MIRRORED[test.op]), test.left) if _is(test.right, variable) else None


def _step(advance: Expr, variable: Symbol) -> int | None:
    step = _advance(peel(advance), variable)
    if step is None or not isinstance(variable.type, Scalar):
        return None
    low, high = integer_range(variable.type)
    return step if step and -high - 1 <= step <= high and (low < 0 or abs(step) <= high) else None


def _advance(expr: Expr, variable: Symbol) -> int | None:
    match expr:
        case Unary(op=op, operand=operand) if op in _STEPS and _is(operand, variable):
            return _STEPS[op]
        case Assign(op="+=" | "-=" as op, target=target, value=value) if _is(target, variable):
            number = _number(value)
            return None if number is None else number * (1 if op == "+=" else -1)
        case Assign(op="=", target=target, value=value) if _is(target, variable):
            return _sum_step(peel(value), variable)
        case _:
            return None


def _sum_step(value: Expr, variable: Symbol) -> int | None:
    """Return c of `i + c`, `c + i`, `i - c`."""
    if not isinstance(value, Binary) or value.op not in ("+", "-"):
        return None
    if _is(value.left, variable):
        number = _number(value.right)
        return number if number is None or value.op == "+" else -number
    return _number(value.left) if value.op == "+" and _is(value.right, variable) else None


def _number(expr: Expr) -> int | None:
    expr = peel(expr)
    return expr.value if isinstance(expr, Literal) and isinstance(expr.value, int) else None


def _is(expr: Expr, variable: Symbol) -> bool:
    expr = peel(expr)
    return isinstance(expr, Name) and expr.symbol == variable
