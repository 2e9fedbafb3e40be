"""Arrays of the port's own that only the device uses need no memory of the host's.

    double *x_all = malloc(…);
    if (!x_all || (double)n * n > 1e15)             if ((double)n * n > 1e15)
        abort();                                        abort();
    x_all_gpu = acquire(…)                    →     x_all_gpu = acquire(…)
    …                                               …
    free(x_all);

Invariant: what asks whether the size is one that can be had stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from warpsmith.emit.device.unused import count_uses
from warpsmith.emit.host.outline.statements import is_stop
from warpsmith.tree.nodes import (
    Binary,
    Block,
    Call,
    Cast,
    DeclStmt,
    Expr,
    ExprStmt,
    Function,
    If,
    Name,
    Node,
    Stmt,
    Unary,
    replace,
)
from warpsmith.tree.types import Pointer, Symbol
from warpsmith.tree.walk import rebuild

__all__ = ["drop_private_arrays"]

Run = tuple[Stmt, ...]


def drop_private_arrays(function: Function, is_own: Callable[[Stmt], bool]) -> Function:
    """Return a ported function without the host's memory for arrays that only kernels use; `is_own`: whether a
    statement is none of the user's."""

    def change(node: Node) -> Node:
        if not isinstance(node, Block):
            return node
        arrays = {symbol for stmt in node.statements if is_own(stmt) for symbol in _allocated(stmt)}
        gone = {symbol for symbol in arrays if _is_private(node.statements, symbol)}
        return replace(node, statements=tuple(_without(node.statements, gone))) if gone else node

    return replace(function, body=rebuild(function.body, change))


def _allocated(stmt: Stmt) -> Iterator[Symbol]:
    """Yield the pointer to memory that a declaration asks for."""
    if isinstance(stmt, DeclStmt) and len(stmt.declarations) == 1 and not stmt.types:
        (declaration,) = stmt.declarations
        init = declaration.init
        while isinstance(init, Cast):
            init = init.operand
        if isinstance(declaration.symbol.type, Pointer) and init is not None and _is_call(init, "malloc"):
            yield declaration.symbol


def _is_private(run: Run, symbol: Symbol) -> bool:
    """Whether a block only asks for memory, tests that, and frees it."""
    kinds = [_kind(stmt, symbol) for stmt in run]
    return None not in kinds and kinds.count("free") == 1


def _kind(stmt: Stmt, symbol: Symbol) -> str | None:
    """Return what a statement does with an array: "", where it does not name it; None, where it uses it."""
    if symbol in _allocated(stmt):
        return "malloc"
    if not count_uses(stmt)[symbol]:
        return ""
    if isinstance(stmt, If) and is_stop(stmt) and sum(_tests(part, symbol) for part in _either(stmt.condition)) == 1:
        return "test" if count_uses(stmt)[symbol] == 1 else None
    return "free" if isinstance(stmt, ExprStmt) and _is_call(stmt.expr, "free") else None


def _without(run: Run, gone: set[Symbol]) -> Iterator[Stmt]:
    for stmt in run:
        named = {symbol for symbol in gone if _kind(stmt, symbol)}
        if not named:
            yield stmt
        elif isinstance(stmt, If):
            rest = [part for part in _either(stmt.condition) if not any(_tests(part, symbol) for symbol in named)]
            if rest:
                yield replace(stmt, condition=_any(rest))


def _either(condition: Expr) -> Iterator[Expr]:
    if isinstance(condition, Binary) and condition.op == "||":
        yield from _either(condition.left)
        yield from _either(condition.right)
    else:
        yield condition


def _any(parts: list[Expr]) -> Expr:
    whole = parts[0]
    for part in parts[1:]:
        whole = Binary(span=whole.span, type=whole.type, op="||", left=whole, right=part)
    return whole


def _tests(part: Expr, symbol: Symbol) -> bool:
    """Whether an expression is `!symbol`."""
    return (
        isinstance(part, Unary) and part.op == "!" and isinstance(part.operand, Name) and part.operand.symbol == symbol
    )


def _is_call(expr: Expr, name: str) -> bool:
    return isinstance(expr, Call) and isinstance(expr.function, Name) and expr.function.symbol.key == name
