"""Values in memory that a nest could keep in variables: recognized from its text, before any step is tried."""

from __future__ import annotations

from warpsmith.loops.analysis.invariants import holds_pointers
from warpsmith.poly.claimed import marked_statements
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.tree.containers import find_checked, is_container
from warpsmith.tree.nodes import Call, Expr, For, Index, Loop, Member, Name, Stmt, Unary, While
from warpsmith.tree.types import Pointer, Record, Symbol, Type
from warpsmith.tree.walk import names, peel, walk, written_symbols

__all__ = [
    "find_all_followed",
    "is_run_by_threads",
    "may_be_localized",
    "mixes_rows",
    "moves_through_tables",
    "moves_through_vectors",
    "reads_bounds_or_bases",
    "row_pointers",
    "starts_threads",
]


def may_be_localized(nest: Loop) -> bool:
    """Whether a nest finds anything in memory, itself or in what it calls, that could be a variable."""
    return bool(find_all_followed(nest)) or reads_bounds_or_bases(nest, nest) or bool(row_pointers(nest))


def row_pointers(loop: Loop) -> list[Pointer]:
    """Return the types of rows that the loop reaches through pointers to pointers."""
    return [n.type.to for n in names(loop) if isinstance(n.type, Pointer) and isinstance(n.type.to, Pointer)]


def mixes_rows(loop: Loop) -> bool:
    """Whether the loop takes one row of a pointer to pointers in all iterations, and others besides: `a[k]` and `a[i]`.

    A variable for `a[k]` could never be shown to lie apart from the rows of `a`, of which it is one."""
    moving = written_symbols(loop)
    fixed: set[Symbol] = set()
    others: set[Symbol] = set()
    for part in walk(loop):
        base = peel(part.base) if isinstance(part, Index) and isinstance(part.type, Pointer) else None
        if isinstance(part, Index) and isinstance(base, Name) and isinstance(base.type, Pointer):
            moves = any(n.symbol in moving for n in names(part.index))
            (others if moves else fixed).add(base.symbol)
    return bool(fixed & others)


def moves_through_vectors(loop: Loop) -> bool:
    """Whether the loop subscripts an array of containers."""
    return any(isinstance(part, Index) and is_container(part.type) for part in walk(loop))


def moves_through_tables(loop: Loop) -> bool:
    """Whether a loop around others goes through pointers to tables of row pointers (`a[i][j][k]` of `double ***a`), in
    each iteration to another table: rows of one table can be written as one block, those of several cannot."""
    if not any(isinstance(part, For | While) and part is not loop for part in walk(loop)):
        return False
    moving = written_symbols(loop)
    tables = (part for part in walk(loop) if isinstance(part, Index) and _is_table(part.type))
    return any(n.symbol in moving for part in tables for n in names(part.index))


def _is_table(type: Type) -> bool:
    return isinstance(type, Pointer) and isinstance(type.to, Pointer)


def find_all_followed(loop: Loop) -> frozenset[str]:
    """Return the names of the functions to which the loop gives such an address where it may be part of a kernel."""
    apart = {id(part) for block in _find_run_by_threads(loop) for part in walk(block)}
    calls = (part for part in walk(loop) if isinstance(part, Call) and id(part) not in apart)
    return frozenset(symbol.name for call in calls if (symbol := _find_followed(call)) is not None)


def _find_followed(call: Call) -> Symbol | None:
    """Return the function that a call gives a struct with pointers, or the address of one."""
    types = (argument.type for argument in map(peel, call.arguments))
    given = [type.to if isinstance(type, Pointer) else type for type in types if isinstance(type, Pointer | Record)]
    return direct_call(call) if any(holds_pointers(type) for type in given) else None


def _is_union(holder: Expr) -> bool:
    """Whether an object is a union, which no kernel has."""
    type = peel(holder).type
    return isinstance(type, Record) and type.union


def reads_bounds_or_bases(loop: Loop, nest: Loop) -> bool:
    """Whether a loop of `nest` follows a pointer that it finds in memory, reads a struct or calls `at`, or has a bound
    in memory."""
    if find_checked(loop):
        return True
    for part in walk(loop):
        if isinstance(part, Member) and (part.arrow or isinstance(part.type, Pointer) or _is_union(part.base)):
            return True
        if isinstance(part, Index) and isinstance(part.type, Pointer):
            return True
        if isinstance(part, Unary) and part.op == "*" and not isinstance(peel(part.operand).type, Pointer):
            return True
    tests = [p.condition for p in walk(loop) if isinstance(p, While) and p.condition is not None]
    if any(isinstance(e, Index) for test in tests for e in walk(test)):
        return True
    moving = written_symbols(nest)
    bounds = (e for part in walk(loop) if isinstance(part, For) for e in walk(part.bound) if isinstance(e, Index))
    # one that moves with the nest is read in its kernels
    if any(moving.isdisjoint(name.symbol for name in names(element)) for element in bounds):
        return True
    return any(isinstance(p, Unary) and p.op == "*" for p in walk(loop))


def starts_threads(loop: Loop) -> bool:
    """Whether a block in the loop is run by several threads of the host (OpenMP), each as it is: it stays there, and
    what stands around it is no part of a kernel either."""
    return bool(_find_run_by_threads(loop))


def is_run_by_threads(loop: Loop, nest: Loop) -> bool:
    """Whether a loop of a nest stands in such a block."""
    return any(part is loop for block in _find_run_by_threads(nest) for part in walk(block))


def _find_run_by_threads(nest: Loop) -> list[Stmt]:
    return [
        stmt
        for pragmas, stmt in marked_statements(nest, any_build=True)
        if not isinstance(stmt, For | While)
        and any(pragma.directive is not None and pragma.directive.starts_threads for pragma in pragmas)
    ]
