"""The numbers of a function that nothing which was changed can write: what the host alone computes, like the time that
it took. Where they differ from run to run, nothing of a port is hidden there.

A number counts where it is a local variable of its own whose address nobody takes, and

    not_in_kernels   no statement that becomes a kernel assigns it
    not_in_steps     the steps left everything as it is that assigns it, inside the same loops
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from warpsmith.tree.nodes import (
    CaptureStmt,
    Expr,
    For,
    Function,
    If,
    Loop,
    Name,
    Node,
    Stmt,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import Record, Scalar, Symbol
from warpsmith.tree.walk import children, names, root_symbol, same, walk, written_symbols

__all__ = ["captured_alone", "not_in_kernels", "not_in_steps"]

_Writes = list[tuple[Node, int]]


def captured_alone(program: Program, of: Callable[[Function], set[Symbol]]) -> frozenset[tuple[str, str]]:
    """Return the region and the name of every captured number which is one `of` its function."""
    return frozenset(
        (part.region, part.symbol.name)
        for _, function in program.functions()
        for part in walk(function.body)
        if isinstance(part, CaptureStmt) and part.symbol in of(function)
    )


def not_in_kernels(function: Function, ported: Sequence[Stmt]) -> set[Symbol]:
    """Return the numbers of a function that the statements which become kernels do not write."""
    return _numbers(function) - {symbol for statement in ported for symbol in written_symbols(statement)}


def not_in_steps(old: Function, new: Function) -> set[Symbol]:
    """Return the numbers of a function that are set in `new`, what steps made of it, exactly as they are in `old`: from
    nothing but what is set as it was itself."""
    before, after = _find_writes(old), _find_writes(new)
    both = _untaken(old) & _untaken(new)
    known = {s for s in both if s in old.parameters or _alike(before.get(s), after.get(s))}
    while wrong := {symbol for symbol in known if not _reads_only(before.get(symbol, []), known)}:
        known -= wrong
    return known & _numbers(old)


def _reads_only(writes: _Writes, known: set[Symbol]) -> bool:
    """Whether what sets a variable reads none but the known ones; what functions do is theirs."""
    used = (name.symbol for node, _ in writes for name in names(node))
    return all(symbol in known or symbol.storage in ("function", "enumerator") for symbol in used)


def _alike(one: _Writes | None, other: _Writes | None) -> bool:
    if one is None or other is None or len(one) != len(other):
        return False
    return all(same(a, b) and depth == deep for (a, depth), (b, deep) in zip(one, other, strict=True))


def _find_writes(function: Function) -> dict[Symbol, _Writes]:
    """Return what sets each variable, in the order of the text, each with the number of loops and branches around it:
    statements that hold no others, loops over the variable, and conditions."""
    found: dict[Symbol, _Writes] = {}
    pending: list[tuple[Node, int]] = [(function.body, 0)]
    while pending:
        node, depth = pending.pop()
        below = [] if isinstance(node, Expr) else list(children(node))
        if any(isinstance(child, Stmt) for child in below):
            written = {node.variable} if isinstance(node, For) else set()
            pending += [(child, depth + isinstance(node, Loop | If)) for child in reversed(below)]
        else:
            written = written_symbols(node)
        for symbol in written:
            found.setdefault(symbol, []).append((node, depth))
    return found


def _numbers(function: Function) -> set[Symbol]:
    return {s for s in _untaken(function) if s.storage == "local" and isinstance(s.type, Scalar)}


def _untaken(function: Function) -> set[Symbol]:
    """Return the local variables and parameters of which nobody takes the address: numbers and records."""
    declared = (part.symbol for part in walk(function.body) if isinstance(part, VarDecl))
    own = {symbol for symbol in (*declared, *function.parameters) if symbol.storage in ("local", "parameter")}
    plain = {symbol for symbol in own if isinstance(symbol.type, Scalar | Record)}
    return plain.difference(_find_addressed(function.body))


def _find_addressed(body: Node) -> Iterator[Symbol]:
    """Yield the variables whose address somebody may take; a reference takes it as well (tree/expressions.py)."""
    for part in walk(body):
        if isinstance(part, Unary) and part.op == "&":
            root = root_symbol(part.operand)
            yield from (n.symbol for n in walk(part.operand) if isinstance(n, Name)) if root is None else (root,)
        elif isinstance(part, Verbatim | VerbatimExpr):
            yield from (*part.reads, *part.writes) if part.kept is None else part.kept
