"""Memory to which nobody has given a value yet: neither copy of it lacks what the other one has.

    double *b = malloc(n * sizeof(double));            b: unset
    #pragma omp target data map(from: b[0:n])          its copy is unset as well: nothing is lost if it comes back
    for (r = 0; r < times; r++) { …kernels write b… }

A host statement that names a pointer to it may give it a value, whatever it does: then it counts as set.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Final

from warpsmith.poly.mapped.copies import Stale
from warpsmith.tree.free_store import RELEASES
from warpsmith.tree.named import find_named
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    DeclStmt,
    Expr,
    ExprStmt,
    Function,
    Literal,
    Name,
    Node,
    Stmt,
    Unary,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.types import Array, Pointer, Scalar, Symbol
from warpsmith.tree.walk import peel, walk

__all__ = ["find_possibly_set", "is_unset", "made_unset"]

_ALLOCATES: Final = frozenset({"malloc", "aligned_alloc", "new", "new[]"})
_NULL_TESTS: Final = frozenset({"==", "!="})


def made_unset(function: Function, stmt: Stmt) -> list[Symbol]:
    """Return the variables that a statement of a function leads to new memory without values, or declares without one:
    those that nothing but their names can come to."""
    found = [symbol for symbol in _made(stmt) if symbol.storage in ("local", "parameter")]
    hidden = _find_hidden(function.body) if found else frozenset()
    return [symbol for symbol in found if symbol not in hidden]


def _made(stmt: Stmt) -> Iterator[Symbol]:
    assigned = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
    for one in stmt.declarations if isinstance(stmt, DeclStmt) else ():
        if _allocates(one.init) if one.init is not None else _is_plain_array(one.symbol):
            yield one.symbol
    if isinstance(assigned, Assign) and assigned.op == "=" and _allocates(assigned.value):
        target = peel(assigned.target)
        if isinstance(target, Name) and isinstance(target.type, Pointer):
            yield target.symbol


@functools.lru_cache(maxsize=64)
def _find_hidden(body: Node) -> frozenset[Symbol]:
    """Return the variables whose own address is taken, or that text names which is not modelled (a lambda)."""
    found: set[Symbol] = set()
    for part in walk(body):
        if isinstance(part, Unary) and part.op == "&" and isinstance(name := peel(part.operand), Name):
            found.add(name.symbol)
        elif isinstance(part, Verbatim | VerbatimExpr):
            found.update(find_named(part))
    return frozenset(found)


def is_unset(known: frozenset[Stale]) -> bool:
    """Whether no element of an object has a value in either copy, as what is stale on the host tells."""
    return bool(known) and all(one.cause == "unset" and one.sure and not one.written for one in known)


def find_possibly_set(node: Node, followed: frozenset[Symbol]) -> Iterator[Symbol]:
    """Yield the variables by which a statement of the host may come to memory, or hand it on: all that it names, but
    for pointers that are given another address, compared with null, freed, or handed to functions that are `followed`.
    """
    harmless = {id(name) for part in walk(node) for name in _harmless(part, followed)}
    for part in walk(node):
        if id(part) not in harmless:
            yield from find_named(part)


def _harmless(part: Node, followed: frozenset[Symbol]) -> Iterator[Name]:
    match part:
        case Assign(op="=", target=target) if isinstance(name := peel(target), Name) and isinstance(name.type, Pointer):
            yield name
        case Unary(op="!", operand=operand):
            yield from _bare(operand)
        case Binary(op=op, left=left, right=right) if op in _NULL_TESTS:
            for one, other in ((left, right), (right, left)):
                if _is_null(other):
                    yield from _bare(one)
        case Call(function=function, arguments=arguments):
            called = peel(function)
            known = isinstance(called, Name) and (called.symbol in followed or called.symbol.name in RELEASES)
            yield from (name for argument in arguments for name in _bare(argument) if known)
        case _:
            pass


def _bare(expr: Expr) -> Iterator[Name]:
    bare = _uncast(expr)
    if isinstance(bare, Name):
        yield bare


def _uncast(expr: Expr) -> Expr:
    bare = peel(expr)
    while isinstance(bare, Cast):
        bare = peel(bare.operand)
    return bare


def _is_null(expr: Expr) -> bool:
    bare = _uncast(expr)
    return isinstance(bare, Literal) and bare.value == 0


def _allocates(value: Expr) -> bool:
    bare = _uncast(value)
    return isinstance(bare, Call) and _name(bare.function) in _ALLOCATES


def _name(function: Expr) -> str:
    bare = peel(function)
    return bare.symbol.name if isinstance(bare, Name) else ""


def _is_plain_array(symbol: Symbol) -> bool:
    type = symbol.type
    while isinstance(type, Array):
        type = type.of
    return symbol.storage == "local" and isinstance(symbol.type, Array) and isinstance(type, Scalar)
