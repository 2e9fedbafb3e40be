"""The run that a guard chooses versions of, with all that names what is declared in it.

    int good = 1;                       if (guards) { int good = 1; new; print(good); }
    old;                 →              else        { int good = 1; old; print(good); }
    print(good);                                                         └ behind the changed run, and in its scope

Invariant: no object that a changed run declares is named, or can be reached, behind the versions: its block ends there.
"""

from __future__ import annotations

from collections.abc import Sequence

from warpsmith.loops.changed.changes import Run
from warpsmith.tree.named import find_named
from warpsmith.tree.nodes import Block, Case, DeclStmt, Function, Literal, Return, Stmt
from warpsmith.tree.types import Pointer, Scalar, Symbol
from warpsmith.tree.walk import walk

__all__ = ["find_rest_of_scope"]


def find_rest_of_scope(function: Function, run: Run, held: frozenset[Symbol] = frozenset()) -> Run:
    """Return the statements behind `run`, in the same block of `function`, that belong into one block with it: those up
    to the last one that names a variable which `run` declares. `held`: variables whose address something else may hold;
    their lives end with the user's block, and so do those of all that is no plain variable."""
    declared = {d.symbol for stmt in run if isinstance(stmt, DeclStmt) for d in stmt.declarations}
    if not declared:
        return ()
    behind = _find_behind(function, run)
    if any(symbol in held or not isinstance(symbol.type, Scalar | Pointer) for symbol in declared):
        return behind[:-1] if behind and _is_plain_return(behind[-1]) else behind
    last = max((k for k, stmt in enumerate(behind) if _names_one(stmt, declared)), default=-1)
    return behind[: last + 1]


def _find_behind(function: Function, run: Run) -> Run:
    for part in walk(function.body):
        statements: Sequence[Stmt] = (
            part.statements if isinstance(part, Block) else part.body if isinstance(part, Case) else ()
        )
        start = next((k for k, stmt in enumerate(statements) if stmt is run[0]), None)
        if start is not None:
            return tuple(statements[start + len(run) :])
    return ()  # the one unbraced statement of a loop or branch: no declaration


def _names_one(stmt: Stmt, declared: set[Symbol]) -> bool:
    return any(symbol in declared for part in walk(stmt) for symbol in find_named(part))


def _is_plain_return(stmt: Stmt) -> bool:
    """Whether a statement leaves the function with what no variable has to do with."""
    return isinstance(stmt, Return) and (stmt.value is None or isinstance(stmt.value, Literal))
