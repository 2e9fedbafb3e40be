"""The numbers of a function that nothing which was changed can write: what the host alone computes, like the time that
it took. Where they differ from run to run, nothing of a port is hidden there.

A number counts where it is a local variable of its own whose address nobody takes, or a reference that a function is
given, and

    not_in_kernels   no statement that becomes a kernel assigns it
    not_in_steps     the steps left everything as it is that assigns it, inside the same loops
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from warpsmith.tree.nodes import (
    Assign,
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
from warpsmith.tree.types import Pointer, Record, Scalar, Symbol
from warpsmith.tree.walk import children, names, root_symbol, same, walk, written_symbols

__all__ = ["captured_alone", "not_in_kernels", "not_in_steps"]

_Writes = list[tuple[Node, int]]


def captured_alone(program: Program, of: Callable[[Function], set[Symbol]]) -> frozenset[tuple[str, str]]:
    """Return the region and the name of every captured number which is one `of` its function."""
    found: set[tuple[str, str]] = set()
    for _, function in program.functions():
        captures = [part for part in walk(function.body) if isinstance(part, CaptureStmt)]
        alone = of(function) if captures else set()
        found.update((capture.region, capture.symbol.name) for capture in captures if capture.symbol in alone)
    return frozenset(found)


def not_in_kernels(function: Function, ported: Sequence[Stmt]) -> set[Symbol]:
    """Return the numbers of a function that the statements which become kernels do not write."""
    return _numbers(function) - {symbol for statement in ported for symbol in _written(statement)}


def not_in_steps(old: Function, new: Function) -> set[Symbol]:
    """Return the numbers of a function that are set in `new`, what steps made of it, exactly as they are in `old`: from
    nothing but what is set as it was itself."""
    before, after = _find_writes(old), _find_writes(new)
    both = _untaken(old) & _untaken(new)
    known = {s for s in both if _alike(before.get(s, []), after.get(s, []))}
    while wrong := {symbol for symbol in known if not _reads_only(before.get(symbol, []), known)}:
        known -= wrong
    return known & _numbers(old)


def _reads_only(writes: _Writes, known: set[Symbol]) -> bool:
    """Whether what sets a variable reads none but the known ones; what functions do is theirs."""
    used = (name.symbol for node, _ in writes for name in names(node))
    return all(symbol in known or symbol.storage in ("function", "enumerator") for symbol in used)


def _alike(one: _Writes, other: _Writes) -> bool:
    return len(one) == len(other) and all(
        same(a, b) and depth == deep for (a, depth), (b, deep) in zip(one, other, strict=True)
    )


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
            written = _written(node)
        for symbol in written:
            found.setdefault(symbol, []).append((node, depth))
    return found


def _written(node: Node) -> set[Symbol]:
    """Return the variables that a node assigns, references as well, of which each use is `*x` (tree/expressions.py)."""
    found = written_symbols(node)
    for part in walk(node):
        target = part.target if isinstance(part, Assign) else part.operand if isinstance(part, Unary) else None
        if isinstance(part, Unary) and not ("++" in part.op or "--" in part.op):
            continue
        root = None if target is None else root_symbol(target)
        if root is not None and _is_reference(root):
            found.add(root)
    return found


def _numbers(function: Function) -> set[Symbol]:
    own = (s for s in _untaken(function) if s.storage == "local" or _is_reference(s))
    return {symbol for symbol in own if not isinstance(symbol.type, Record)}


def _untaken(function: Function) -> set[Symbol]:
    """Return the local variables and parameters of which nobody takes the address: numbers, records, references."""
    declared = (part.symbol for part in walk(function.body) if isinstance(part, VarDecl))
    own = {symbol for symbol in (*declared, *function.parameters) if symbol.storage in ("local", "parameter")}
    plain = {symbol for symbol in own if isinstance(symbol.type, Scalar | Record) or _is_reference(symbol)}
    return plain.difference(_find_addressed(function.body))


def _is_reference(symbol: Symbol) -> bool:
    """Whether a parameter is a reference to a number."""
    type = symbol.type
    given = symbol.storage == "parameter" and isinstance(type, Pointer) and type.reference
    return given and isinstance(type, Pointer) and isinstance(type.to, Scalar)


def _find_addressed(body: Node) -> Iterator[Symbol]:
    """Yield the variables whose address somebody may take; a reference takes it as well (tree/expressions.py)."""
    for part in walk(body):
        if isinstance(part, Unary) and part.op == "&":
            root = root_symbol(part.operand)
            yield from (n.symbol for n in walk(part.operand) if isinstance(n, Name)) if root is None else (root,)
        elif isinstance(part, Verbatim | VerbatimExpr):
            yield from (*part.reads, *part.writes) if part.kept is None else part.kept
