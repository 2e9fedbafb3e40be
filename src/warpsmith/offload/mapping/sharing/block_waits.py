"""Whether all threads of a block come to each place where they wait for one another.

if (m > 3) ws_block_sync(Rows);                  they do: `m` is the same for all
if (i > 3) ws_block_sync(Rows);                  they may not
for (j = 0; j < i; j++) s = ws_column_sum(…);    nor here: some go through the loop more often
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from warpsmith.tree.memory.shared_values import BLOCK_SYNC, COLUMN_KEY
from warpsmith.tree.nodes import (
    Binary,
    Break,
    Cast,
    Conditional,
    Continue,
    For,
    If,
    Literal,
    MacroUse,
    Name,
    Node,
    Return,
    Stmt,
    While,
)
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import children, walk, written_symbols

__all__ = ["find_parting"]

_OF_ONE_VALUE: Final = (Binary, Cast, Conditional, Literal, MacroUse)
"""Expressions that have one value for all threads where their operands have."""


def find_parting(body: Stmt, same: Collection[Symbol]) -> Stmt | None:
    """Return a statement by which threads of a block may part although they wait for one another below it, or behind
    it; None: all of them come to all waits. `same`: variables that have one value for all when the body begins."""
    return _find(body, frozenset(same) - written_symbols(body), None) if _waits(body) else None


def _find(stmt: Stmt, fixed: frozenset[Symbol], parted: Stmt | None) -> Stmt | None:
    """Look at a statement and below it; where not all threads may come to it, `parted` is what they part by."""
    if parted is not None:
        leaves = any(isinstance(part, Return) for part in walk(stmt)) or _leaves_loop(stmt)
        return parted if leaves or _waits(stmt) else None
    if isinstance(stmt, If):
        branches = (stmt.then, *(() if stmt.other is None else (stmt.other,)))
        return _find_any(branches, fixed, None if _is_fixed(stmt.condition, fixed) else stmt)
    if isinstance(stmt, For):
        alike = _is_fixed(stmt.lower, fixed) and _is_fixed(stmt.bound, fixed)
        return _below_loop(stmt, fixed | {stmt.variable}, None if alike else stmt)
    if isinstance(stmt, While):
        return _below_loop(stmt, fixed, stmt)
    return _find_any([part for part in children(stmt) if isinstance(part, Stmt)], fixed, None)


def _find_any(statements: Collection[Stmt], fixed: frozenset[Symbol], parted: Stmt | None) -> Stmt | None:
    return next((found for one in statements if (found := _find(one, fixed, parted)) is not None), None)


def _below_loop(loop: For | While, fixed: frozenset[Symbol], parted: Stmt | None) -> Stmt | None:
    # threads that leave a loop in which nobody waits meet again behind it
    inner = any(isinstance(part, Return) for part in walk(loop.body))
    return _find(loop.body, fixed, parted) if inner or _waits(loop.body) else None


def _leaves_loop(stmt: Node) -> bool:
    """Whether a statement may leave the loop around it, or an iteration of that."""
    if isinstance(stmt, Break | Continue):
        return True
    return not isinstance(stmt, For | While) and any(_leaves_loop(part) for part in children(stmt))


def _is_fixed(expr: Node, fixed: Collection[Symbol]) -> bool:
    """Whether an expression has one value for all threads: there is nothing in it but such variables and numbers."""
    if isinstance(expr, Name):
        return expr.symbol in fixed
    return isinstance(expr, _OF_ONE_VALUE) and all(_is_fixed(one, fixed) for one in children(expr))


def _waits(stmt: Node) -> bool:
    """Whether threads of a block wait for one another in a statement."""
    called = (part.symbol for part in walk(stmt) if isinstance(part, Name))
    return any(symbol == BLOCK_SYNC or symbol.key.startswith(COLUMN_KEY) for symbol in called)
